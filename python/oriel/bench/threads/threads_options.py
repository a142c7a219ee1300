# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench threads`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rounds, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads",
        type=positive,
        default=32,
        metavar="T",
        help="measure 1, 2, 4 threads and so on up to T (default: 32)",
    )
    add_rounds(parser, 3)
