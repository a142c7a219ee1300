# SPDX-License-Identifier: BSD-3-Clause
"""Options that several benchmarks take."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

MOST_RANKS = 16  # unless asked for


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


positive.__name__ = "whole number above 0"  # what argparse says was expected


def numbers(text: str) -> list[int]:
    return [positive(word) for word in text.split(",")]


numbers.__name__ = "whole numbers above 0"


def add_rounds(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--rounds",
        type=positive,
        default=default,
        metavar="R",
        help=f"how often the program is started each way (default: {default})",
    )


def add_repetition(parser: argparse.ArgumentParser) -> None:
    """Of programs that measure several variants on any number of ranks."""
    ranks = max(2, min(len(os.sched_getaffinity(0)), MOST_RANKS))
    parser.add_argument(
        "-n",
        type=positive,
        default=ranks,
        metavar="RANKS",
        help=f"ranks (default: one per core, 2 at least and {MOST_RANKS} at most; here {ranks})",
    )
    add_rounds(parser, 5)
    parser.add_argument(
        "--batches",
        type=positive,
        default=9,
        metavar="B",
        help="how often a run measures each variant (default: 9)",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="the windows are memory of MPI_Win_allocate, or the program's own given to "
        "MPI_Win_create (default: allocated)",
    )


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hosts",
        type=positive,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes made of network namespaces of this machine (takes "
        "root; default: 1, this machine itself)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/bench"),
        metavar="FOLDER",
        help="where figure and results go (default: build/bench)",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mpi",
        default="all",
        metavar="NAME",
        help="the host MPIs: mpich, openmpi, intel with commas between them, or all (default: "
        "all that are found)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
