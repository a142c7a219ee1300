# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders beside earlier ones of the same name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path


def make_new(base: Path, make: Callable[[Path], object]) -> Path:
    """Makes a file or folder at this path, or, where there is one, at the next free path: with -2,
    -3 and so on behind the stem. Returns the path. `make` raises FileExistsError."""
    for number in itertools.count(1):
        path = base if number == 1 else base.with_name(f"{base.stem}-{number}{base.suffix}")
        try:
            make(path)
        except FileExistsError:
            continue
        return path
    raise AssertionError("count() has no end")
