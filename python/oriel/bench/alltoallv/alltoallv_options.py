# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench alltoallv`."""

from __future__ import annotations

import argparse

from oriel.bench.alltoallv.alltoallv_scaling import TOTALS
from oriel.bench.options import numbers
from oriel.bench.requests.request_options import (
    add_lengths,
    add_ranks,
    add_sizes,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_ranks(parser, ": the first exchanges all sizes, the others every third one")
    add_sizes(
        parser,
        "what each rank sends to each, for all numbers of ranks",
        "8 B to 2 MB, each four times the one before",
    )
    parser.add_argument(
        "--totals",
        type=numbers,
        metavar="SIZES",
        help="strong scaling: what all ranks together exchange, in bytes with commas between them "
        f"(default: {','.join(map(str, TOTALS))}; none if --bytes is given)",
    )
    add_lengths(parser)
