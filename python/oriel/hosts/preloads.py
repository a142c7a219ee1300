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
_MPI = re.compile(r"lib.*mpi(?!l).*\.so")  # not libcompiler.so


def _needed(program: Sequence[str | PathLike]) -> dict[str, Path]:
    """The libraries that a program is linked with, by their names. A script tells of none."""
    found = shutil.which(fspath(program[0])) if program else None
    try:
        return needed_libraries(Path(found)) if found else {}
    except FileNotFoundError:  # of ldd
        return {}


def preload_order(
    program: Sequence[str | PathLike], given: str, library: str, mpi: Path | None
) -> str:
    """LD_PRELOAD of the ranks: sanitizer runtimes of the program, the entries that the user has
    `given`, and then Oriel's `library`, unless the user's entries have it in a place of its own.
    Behind it the `mpi` library, if the program is not linked with one, as an interpreter is not:
    what the program loads later then finds this MPI, and no other one.

    A call of MPI goes to the first library that defines it. A tool in front of Oriel wraps the
    program's calls and passes them on by their PMPI names, which Oriel answers to as well. A tool
    behind Oriel gets only the calls that Oriel does not define.
    """
    needed = _needed(program)
    sanitizers = [str(file) for name, file in needed.items() if _SANITIZER.match(name)]
    entries = [*sanitizers, *re.split(r"[\s:]+", given), library]
    if mpi is not None and not any(map(_MPI.match, needed)):
        entries.append(str(mpi))
    return ":".join(dict.fromkeys(filter(None, entries)))
