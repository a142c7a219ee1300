# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench tree`."""

from __future__ import annotations

import argparse

from oriel.bench import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_rank_series(parser)
    options.add_repetition(parser, rounds=10, batches=5)
    parser.add_argument(
        "--arity",
        type=options.positive,
        default=16,
        metavar="K",
        help="how many children a rank has at most (default: 16)",
    )
