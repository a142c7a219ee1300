# SPDX-License-Identifier: BSD-3-Clause
"""The order of what the ranks of a job preload."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path

from oriel.hosts.needed_libraries import needed_libraries

# Runtimes of GCC and Clang that replace functions of the C library, and refuse to start behind
# another library.
_SANITIZER = re.compile(r"lib(clang_rt\.)?(asan|hwasan|lsan|tsan)\b.*\.so")


def _sanitizers(program: Sequence[str | PathLike]) -> list[str]:
    """Paths of the sanitizer runtimes that a program is linked with. A script tells of none."""
    found = shutil.which(fspath(program[0])) if program else None
    try:
        libraries = needed_libraries(Path(found)) if found else {}
    except FileNotFoundError:  # of ldd
        return []
    return [str(file) for name, file in libraries.items() if _SANITIZER.match(name)]


def preload_order(program: Sequence[str | PathLike], given: str, library: str) -> str:
    """LD_PRELOAD of the ranks: sanitizer runtimes of the program, the entries that the user has
    `given`, and then Oriel's `library`, unless the user's entries have it in a place of its own.

    A call of MPI goes to the first library that defines it. A tool in front of Oriel wraps the
    program's calls and passes them on by their PMPI names, which Oriel answers to as well. A tool
    behind Oriel gets only the calls that Oriel does not define.
    """
    entries = [*_sanitizers(program), *re.split(r"[\s:]+", given), library]
    return ":".join(dict.fromkeys(filter(None, entries)))
