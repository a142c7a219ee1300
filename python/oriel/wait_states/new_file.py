# SPDX-License-Identifier: BSD-3-Clause
"""Files of a report. The folder may be in a place where others may write, too."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO


def new_file(path: Path) -> TextIO:
    """In the place of what has had this name: a link that somebody has put there is not
    followed."""
    path.unlink(missing_ok=True)
    return path.open("x", encoding="utf-8")
