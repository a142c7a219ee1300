# SPDX-License-Identifier: BSD-3-Clause
"""Options that the benchmarks of persistent collectives share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oriel.bench.options import add_rounds, numbers, positive

TIMEOUT_S = 300
RANKS = [2, 4, 8]
ELEMENT_BYTES = 8  # of the programs
QUICK_SIZES = [8, 32 << 10]
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50", "--limit-ms", "5")


def _sizes(text: str) -> list[int]:
    sizes = numbers(text)
    if any(size % ELEMENT_BYTES for size in sizes):
        raise ValueError
    return sizes


_sizes.__name__ = f"multiples of {ELEMENT_BYTES}"  # what argparse says was expected


def add_ranks(parser: argparse.ArgumentParser, how: str = "") -> None:
    """`how`: what the first number means, and the others."""
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=RANKS,
        metavar="RANKS",
        help=f"how many ranks, with commas between several numbers{how} (default: 2,4,8)",
    )


def add_sizes(parser: argparse.ArgumentParser, what: str, default: str) -> None:
    parser.add_argument(
        "--bytes",
        type=_sizes,
        metavar="SIZES",
        help=f"{what}, multiples of {ELEMENT_BYTES} B with commas between them (default: "
        f"{default})",
    )


def add_lengths(parser: argparse.ArgumentParser) -> None:
    """How long is measured."""
    add_rounds(parser, 3)
    parser.add_argument(
        "--batches",
        type=positive,
        default=9,
        metavar="B",
        help="how often a run measures each algorithm, at most (default: 9)",
    )


def lengths(arguments: argparse.Namespace) -> tuple[int, Sequence[str]]:
    """The rounds, and the program's options."""
    if arguments.quick:
        return 1, QUICK_OPTIONS
    return arguments.rounds, ("--batches", str(arguments.batches))
