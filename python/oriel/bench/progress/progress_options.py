# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench progress`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rounds, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--operations",
        type=positive,
        default=100_000,
        metavar="K",
        help="how often rank 0 puts and flushes (default: 100000)",
    )
    parser.add_argument(
        "--busy-ms",
        type=positive,
        default=3000,
        metavar="MILLISECONDS",
        help="how long the busy target computes outside MPI (default: 3000)",
    )
    add_rounds(parser, 3)
