# SPDX-License-Identifier: BSD-3-Clause
"""Where tables are printed, and how far a measurement is."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# More than any line has: rich takes a width for granted, 80 columns where there is no terminal.
_UNLIMITED = 10_000


def tables_console() -> Console:
    """Standard output: as wide as the terminal, and without one so wide that nothing wraps."""
    if sys.stdout.isatty():
        return Console()
    # rich heeds a width only together with a height where TERM is dumb.
    return Console(width=_UNLIMITED, height=_UNLIMITED)


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
