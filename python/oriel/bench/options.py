# SPDX-License-Identifier: BSD-3-Clause
"""Options that several benchmarks take."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from oriel.hosts.mpi_option import add_mpis_option

MOST_RANKS = 16  # unless asked for
ELEMENT_BYTES = 8  # of the programs of persistent collectives


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


positive.__name__ = "whole number above 0"  # what argparse says was expected


def numbers(text: str) -> list[int]:
    return [positive(word) for word in text.split(",")]


numbers.__name__ = "whole numbers above 0"


def add_numbers(parser: argparse.ArgumentParser, *rows: tuple[str, int, str]) -> None:
    """Options that take a number: their names, defaults, and what they mean."""
    for name, default, text in rows:
        parser.add_argument(
            name, type=positive, default=default, metavar="N", help=f"{text} (default: {default})"
        )


def add_rounds(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--rounds",
        type=positive,
        default=default,
        metavar="R",
        help=f"how often the program is started each way (default: {default})",
    )


def _cores() -> int:
    """For ranks: 2 at least, because fewer ranks do not communicate."""
    return max(2, min(len(os.sched_getaffinity(0)), MOST_RANKS))


def add_rank_number(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        type=positive,
        default=_cores(),
        metavar="RANKS",
        help=f"ranks (default: one per core, 2 at least and {MOST_RANKS} at most; here {_cores()})",
    )


def add_rank_series(parser: argparse.ArgumentParser) -> None:
    """Of benchmarks that draw curves over the number of ranks."""
    series = [2**power for power in range(1, _cores().bit_length())]
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=series,
        metavar="RANKS",
        help="how many ranks, with commas between several numbers (default: 2 and doubled as long "
        f"as there are cores, {MOST_RANKS} at most; here {','.join(map(str, series))})",
    )


def add_repetition(parser: argparse.ArgumentParser, rounds: int, batches: int) -> None:
    """Of programs that measure several variants."""
    add_rounds(parser, rounds)
    parser.add_argument(
        "--batches",
        type=positive,
        default=batches,
        metavar="B",
        help=f"how often a run measures each variant (default: {batches})",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="the windows are memory of MPI_Win_allocate, or the program's own given to "
        "MPI_Win_create (default: allocated)",
    )


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
        default=[2, 4, 8],
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


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hosts",
        type=positive,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes made of network namespaces of this machine (takes "
        "root; default: 1, this machine itself)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/bench"),
        metavar="FOLDER",
        help="where figure and results go (default: build/bench)",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    add_mpis_option(parser, "all", "all that are found")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
