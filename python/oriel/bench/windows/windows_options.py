# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench windows`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rounds, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        type=positive,
        default=2,
        metavar="RANKS",
        help="ranks that make the windows; the first puts to the last (default: 2)",
    )
    add_rounds(parser, 3)
    parser.add_argument(
        "--others",
        type=positive,
        default=100,
        metavar="W",
        help="how many other windows are alive while one is made (default: 100)",
    )
