# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench collectives`."""

from __future__ import annotations

import argparse

from oriel.bench.collectives.collectives_times import CALLS
from oriel.bench.requests.request_options import (
    add_lengths,
    add_ranks,
    add_sizes,
)


def _calls(text: str) -> list[str]:
    calls = text.split(",")
    if not set(calls) <= set(CALLS):
        raise ValueError
    return calls


_calls.__name__ = f"list of {', '.join(CALLS)}"  # what argparse says was expected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_ranks(parser)
    parser.add_argument(
        "--calls",
        type=_calls,
        default=list(CALLS),
        metavar="CALLS",
        help=f"of {', '.join(CALLS)}, with commas between them (default: all)",
    )
    add_sizes(parser, "of a block", "8 B, 4 KB, 256 KB, 2 MB")
    add_lengths(parser)
