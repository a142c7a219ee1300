# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench wavefront`."""

from __future__ import annotations

import argparse

from oriel.bench import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_rank_number(parser)
    options.add_repetition(parser, rounds=5, batches=9)
    parser.add_argument(
        "--columns-per-rank",
        type=options.numbers,
        default=[16, 128, 1024],
        metavar="N",
        help="columns of each rank, with commas between several numbers (default: 16,128,1024)",
    )
    options.add_numbers(
        parser,
        ("--rows", 1000, "rows of the grid"),
        ("--iterations", 10, "iterations of one batch"),
    )
