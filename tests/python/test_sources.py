# SPDX-License-Identifier: BSD-3-Clause
"""CMake builds the sources that are listed; one in no list would be left out in silence."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "programs")
# Examples that test_cpp_interface.py and test_guide_programs.py of tests/mpi compile and link as a
# user does.
COMPILED_BY_TESTS = tuple(
    REPOSITORY / "programs" / "cpp" / f"{name}.cpp" for name in ("counters", "late_target", "ring")
)


def list_of(source: Path) -> Path:
    """The list that has to name a source: the nearest CMakeLists.txt in the folders above it."""
    return next(
        each / "CMakeLists.txt" for each in source.parents if (each / "CMakeLists.txt").is_file()
    )


def is_listed(source: Path) -> bool:
    path = list_of(source)
    words = re.split(r"[\s()]+", path.read_text(encoding="utf-8"))
    return source.relative_to(path.parent).as_posix() in words


def test_every_source_is_listed():
    sources = [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.cpp")]
    assert sources
    faults = [
        f"{source.relative_to(REPOSITORY)} is not built: add it to "
        f"{list_of(source).relative_to(REPOSITORY)}."
        for source in sources
        if source not in COMPILED_BY_TESTS and not is_listed(source)
    ]
    assert not faults, "\n".join(faults)
