# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that the loader loads with a program."""

from __future__ import annotations

import subprocess
from pathlib import Path


def needed_libraries(binary: Path) -> dict[str, Path]:
    """By their sonames, as ldd tells: also those that libraries need. The path of one that the
    loader does not find is no file. Raises FileNotFoundError where there is no ldd."""
    answer = subprocess.run(
        ["ldd", binary], capture_output=True, text=True, timeout=30, check=False
    )
    lines = [line.strip().partition(" => ") for line in answer.stdout.splitlines()]
    return {soname: Path(rest.rpartition(" (")[0]) for soname, arrow, rest in lines if arrow}
