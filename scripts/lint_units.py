# SPDX-License-Identifier: BSD-3-Clause
"""What `make lint` reads: the files that CMake compiles as one, and their sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATABASE = ROOT / "build" / "lint" / "compile_commands.json"
UNLINTED = "src/tools"  # the only folder of src whose sources clang-tidy does not read

_SOURCE = re.compile(r'^#include "([^"]+\.cpp)"', re.M)


def sources_of(command: dict, root: Path) -> list[Path]:
    """The sources of src that one command compiles; none where it compiles others."""
    file = Path(command["file"])
    names = _SOURCE.findall(file.read_text()) if file.parent.name == "Unity" else [file]
    sources = (Path(name).resolve() for name in names)
    return [
        source
        for source in sources
        if source.is_relative_to(root / "src") and not source.is_relative_to(root / UNLINTED)
    ]


def units(commands: list[dict], root: Path) -> Iterator[Path]:
    """Files that contain all sources: the first that has one, because the MPI layer is compiled for
    every MPI."""
    read: set[Path] = set()
    for command in commands:
        sources = set(sources_of(command, root))
        if sources - read:
            read |= sources
            yield Path(command["file"])


if __name__ == "__main__":
    print(*units(json.loads(DATABASE.read_text()), ROOT), sep="\n")
