# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench micro`."""

from __future__ import annotations

import argparse
from pathlib import Path

from oriel.bench.micro.micro_times import (
    MESSAGES,
    SETS,
    USUAL,
    Timings,
)
from oriel.bench.options import positive

RANKS = 2
NAMED_SETS = tuple(each for each in SETS if each not in (USUAL, MESSAGES))
STATISTICS = {"median": Timings.median, "fastest": Timings.fastest}


def even(text: str) -> int:
    ranks = positive(text)
    if ranks % 2:
        raise ValueError
    return ranks


even.__name__ = "even number"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs",
        type=positive,
        default=5,
        metavar="R",
        help="how often each program is started each way (default: 5)",
    )
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument(
        "--all",
        action="store_true",
        help="every operation in every kind of synchronization, 8 B to 1 MB, and the sets sizes, "
        "vectors and dynamic; half an hour",
    )
    rows.add_argument(
        "--set",
        choices=NAMED_SETS,
        help="only these rows: every operation in every kind of synchronization (operations), "
        "accumulates of 1 to 8192 elements (sizes), vector types (vectors), dynamic windows "
        "(dynamic), or all ranks at one word of rank 0 (contended; use -n 2, 4 and 8)",
    )
    parser.add_argument(
        "-n",
        type=even,
        default=RANKS,
        metavar="RANKS",
        help="how many ranks, an even number: pairs play at the same time, and the first pair is "
        f"timed (default: {RANKS})",
    )
    parser.add_argument(
        "--crowded",
        action="store_true",
        help="all ranks on one core",
    )
    parser.add_argument(
        "--by",
        choices=list(STATISTICS),
        default="median",
        help="what the tables compare: the median, or the fastest batch, which other work on the "
        "machine disturbs least (default: median)",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="append the commit, the machine and the times to this file, as a line of JSON, and "
        "draw all its runs beside it",
    )
