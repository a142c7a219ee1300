# SPDX-License-Identifier: BSD-3-Clause
"""Where tables are printed, and how far a measurement is."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def tables_console() -> Console:
    # Without a terminal rich would fold the tables at 80 columns.
    return Console(width=None if sys.stdout.isatty() else 132)


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
