# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench lu`."""

from __future__ import annotations

import argparse
import os

from oriel.bench.options import MOST_RANKS, add_rounds, numbers, positive

ORDERS = [256, 512]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    most = min(max(4, len(os.sched_getaffinity(0))), MOST_RANKS)
    series = [2**power for power in range(1, most.bit_length())]
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=series,
        metavar="RANKS",
        help="how many ranks, with commas between several numbers (default: 2, 4 and doubled as "
        f"long as there are cores, {MOST_RANKS} at most; here {','.join(map(str, series))})",
    )
    parser.add_argument(
        "--orders",
        type=numbers,
        default=ORDERS,
        metavar="ORDERS",
        help="rows and columns of the matrix, with commas between several numbers (default: "
        f"{','.join(map(str, ORDERS))})",
    )
    add_rounds(parser, 3)
    parser.add_argument(
        "--batches",
        type=positive,
        default=3,
        metavar="B",
        help="how many decompositions a run measures each way, at most (default: 3)",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="others' rows arrive in memory of MPI_Win_allocate, or in the program's own given to "
        "MPI_Win_create (default: allocated)",
    )
