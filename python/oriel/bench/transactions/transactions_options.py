# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench transactions`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rounds, numbers, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=[2, 4, 8],
        metavar="RANKS",
        help="how many ranks, with commas between several numbers (default: 2,4,8)",
    )
    parser.add_argument(
        "--compute-us",
        type=numbers,
        default=[20],
        metavar="US",
        help="how long a rank computes behind each transaction, in microseconds, with commas "
        "between several numbers; not at all is always measured (default: 20)",
    )
    parser.add_argument(
        "--words",
        type=positive,
        default=1024,
        metavar="W",
        help="words of 8 bytes in each rank's window (default: 1024)",
    )
    add_rounds(parser, 2)
    parser.add_argument(
        "--batches",
        type=positive,
        default=5,
        metavar="B",
        help="how many batches a run measures of each variant (default: 5)",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="the words are in memory of MPI_Win_allocate, or in the program's own given to "
        "MPI_Win_create (default: allocated)",
    )
