# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench cholesky`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rank_series, add_repetition, numbers, positive

TILES_PER_RANK = [1, 16]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rank_series(parser)
    add_repetition(parser, rounds=10, batches=31)
    parser.add_argument(
        "--tile",
        type=positive,
        default=32,
        metavar="EDGE",
        help="a tile has EDGE x EDGE doubles (default: 32, which makes 8 KB)",
    )
    parser.add_argument(
        "--tiles-per-rank",
        type=numbers,
        default=TILES_PER_RANK,
        metavar="T",
        help="a matrix is the smallest with T tiles for each rank, with commas between several "
        f"numbers (default: {','.join(map(str, TILES_PER_RANK))})",
    )
