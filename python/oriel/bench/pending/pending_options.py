# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench pending`."""

from __future__ import annotations

import argparse

from oriel.bench.options import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pending",
        type=positive,
        default=1_000_000,
        metavar="N",
        help="how many epochs are pending at once (default: 1000000)",
    )
