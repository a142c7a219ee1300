# SPDX-License-Identifier: BSD-3-Clause
"""The subjects of `oriel bench`, and what each of them takes. The benchmarks themselves import
packages; the parser, from which the completion scripts and man pages are made, does without."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from oriel.bench.micro_times import MESSAGES, SETS, STATISTICS, USUAL
from oriel.bench.options import (
    MOST_RANKS,
    add_lengths,
    add_numbers,
    add_rank_number,
    add_rank_series,
    add_ranks,
    add_repetition,
    add_rounds,
    add_sizes,
    numbers,
    positive,
)

# By the program's names: what comes after MPI_.
CALLS = {
    "alltoall": "Alltoall",
    "alltoallw": "Alltoallw",
    "allgatherv": "Allgatherv",
    "neighbor_alltoallv": "Neighbor_alltoallv",
    "reduce": "Reduce",
    "bcast": "Bcast",
}
# Of alltoallv's strong scaling: bytes of all ranks together.
TOTALS = [32 << 10, 8 << 20]
# The matrices of sparse.
MESH = "mesh"
# Small ones of real applications, from finite elements and finite differences.
EXAMPLES = (
    "airfoil",
    "bar",
    "helmholtz_2D",
    "knot",
    "local_disc_galerkin_diffusion",
    "recirc_flow",
    "unit_cube",
    "unit_square",
)
MATRICES = (MESH, "helmholtz_2D")

# What the help and the tables say of it.
DEFINITION = (
    "The rows of the matrix and the entries of the vector are dealt to the ranks in equal "
    "contiguous blocks; each rank sends to each other one, once, those of its entries that have a "
    "nonzero in the other one's rows, 8 B each: the exchange of a sparse matrix-vector product."
)


def _even(text: str) -> int:
    ranks = positive(text)
    if ranks % 2:
        raise ValueError
    return ranks


_even.__name__ = "even number"


def _micro(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs",
        type=positive,
        default=5,
        metavar="R",
        help="how often each program is started each way (default: 5)",
    )
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument(
        "--all",
        action="store_true",
        help="every operation in every kind of synchronization, 8 B to 1 MB, and the sets sizes, "
        "vectors and dynamic; half an hour",
    )
    rows.add_argument(
        "--set",
        choices=[each for each in SETS if each not in (USUAL, MESSAGES)],
        help="only these rows: every operation in every kind of synchronization (operations), "
        "accumulates of 1 to 8192 elements (sizes), vector types (vectors), dynamic windows "
        "(dynamic), or all ranks at one word of rank 0 (contended; use -n 2, 4 and 8)",
    )
    parser.add_argument(
        "-n",
        type=_even,
        default=2,
        metavar="RANKS",
        help="how many ranks, an even number: pairs play at the same time, and the first pair is "
        "timed (default: 2)",
    )
    parser.add_argument(
        "--crowded",
        action="store_true",
        help="all ranks on one core",
    )
    parser.add_argument(
        "--by",
        choices=list(STATISTICS),
        default="median",
        help="what the tables compare: the median, or the fastest batch, which other work on the "
        "machine disturbs least (default: median)",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="append the commit, the machine and the times to this file, as a line of JSON, and "
        "draw all its runs beside it",
    )


def _pending(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pending",
        type=positive,
        default=1_000_000,
        metavar="N",
        help="how many epochs are pending at once (default: 1000000)",
    )


def _halo(parser: argparse.ArgumentParser) -> None:
    add_rank_number(parser)
    add_repetition(parser, rounds=5, batches=9)


def _progress(parser: argparse.ArgumentParser) -> None:
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


def _network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--card",
        type=Path,
        metavar="FOLDER",
        help="also on a stand-in for a network card, which the tests of a source tree build in "
        "build/tests/mpi/card (MPICH, Open MPI)",
    )
    add_rounds(parser, 5)


def _report(parser: argparse.ArgumentParser) -> None:
    add_rounds(parser, 7)


def _notify(parser: argparse.ArgumentParser) -> None:
    add_rounds(parser, 5)


def _stencil(parser: argparse.ArgumentParser) -> None:
    add_rank_series(parser)
    add_repetition(parser, rounds=10, batches=5)
    add_numbers(
        parser,
        ("--rows", 1280, "rows of the domains"),
        ("--columns-per-rank", 1280, "columns of each rank in the domain of the weak scaling"),
        ("--columns", 12800, "columns in all in the domain of the strong scaling"),
        ("--iterations", 2, "iterations of one batch"),
        ("--limit-s", 10, "seconds after which a run begins no batch of a variant and domain"),
    )


def _wavefront(parser: argparse.ArgumentParser) -> None:
    add_rank_number(parser)
    add_repetition(parser, rounds=5, batches=9)
    parser.add_argument(
        "--columns-per-rank",
        type=numbers,
        default=[16, 128, 1024],
        metavar="N",
        help="columns of each rank, with commas between several numbers (default: 16,128,1024)",
    )
    add_numbers(
        parser,
        ("--rows", 1000, "rows of the grid"),
        ("--iterations", 10, "iterations of one batch"),
    )


def _tree(parser: argparse.ArgumentParser) -> None:
    add_rank_series(parser)
    add_repetition(parser, rounds=10, batches=5)
    parser.add_argument(
        "--arity",
        type=positive,
        default=16,
        metavar="K",
        help="how many children a rank has at most (default: 16)",
    )


def _cholesky(parser: argparse.ArgumentParser) -> None:
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
        default=[1, 16],
        metavar="T",
        help="a matrix is the smallest with T tiles for each rank, with commas between several "
        "numbers (default: 1,16)",
    )


def _add_window(parser: argparse.ArgumentParser, what: str) -> None:
    """`what`: the beginning of the help, of what lies in the window."""
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help=f"{what} in memory of MPI_Win_allocate, or in the program's own given to "
        "MPI_Win_create (default: allocated)",
    )


def _lu(parser: argparse.ArgumentParser) -> None:
    most = min(max(4, len(os.sched_getaffinity(0))), MOST_RANKS)
    series = [2**power for power in range(1, most.bit_length())]
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=series,
        metavar="RANKS",
        help="how many ranks, with commas between several numbers (default: 2, 4 and doubled as "
        f"long as there are cores, {MOST_RANKS} at most; here {','.join(map(str, series))})",
    )
    parser.add_argument(
        "--orders",
        type=numbers,
        default=[256, 512],
        metavar="ORDERS",
        help="rows and columns of the matrix, with commas between several numbers (default: "
        "256,512)",
    )
    add_rounds(parser, 3)
    parser.add_argument(
        "--batches",
        type=positive,
        default=3,
        metavar="B",
        help="how many decompositions a run measures each way, at most (default: 3)",
    )
    _add_window(parser, "others' rows arrive")


def _windows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        type=positive,
        default=2,
        metavar="RANKS",
        help="ranks that make the windows; the first puts to the last (default: 2)",
    )
    add_rounds(parser, 3)
    parser.add_argument(
        "--others",
        type=positive,
        default=100,
        metavar="W",
        help="how many other windows are alive while one is made (default: 100)",
    )


def _threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads",
        type=positive,
        default=32,
        metavar="T",
        help="measure 1, 2, 4 threads and so on up to T (default: 32)",
    )
    add_rounds(parser, 3)


def _alltoallv(parser: argparse.ArgumentParser) -> None:
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


def _calls(text: str) -> list[str]:
    calls = text.split(",")
    if not set(calls) <= set(CALLS):
        raise ValueError
    return calls


_calls.__name__ = f"list of {', '.join(CALLS)}"  # what argparse says was expected


def _collectives(parser: argparse.ArgumentParser) -> None:
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


def _sparse(parser: argparse.ArgumentParser) -> None:
    parser.description = DEFINITION
    parser.add_argument(
        "-n",
        type=positive,
        default=8,  # the paper's
        metavar="RANKS",
        help="ranks (default: 8)",
    )
    parser.add_argument(
        "--matrix",
        action="append",
        metavar="MATRIX",
        help="a file in the Matrix Market format, also with gzip (.mtx, .mtx.gz); or one that "
        f"comes along: {MESH}, a large one that is generated, or the small ones of pyamg, "
        f"{', '.join(EXAMPLES)}. Again for more (default: {' and '.join(MATRICES)})",
    )
    parser.add_argument(
        "--triangles",
        type=positive,
        default=500_000,
        metavar="T",
        help=f"rows of {MESH}, about (default: 500000)",
    )
    add_lengths(parser)


def _transactions(parser: argparse.ArgumentParser) -> None:
    add_ranks(parser)
    parser.add_argument(
        "--compute-us",
        type=numbers,
        default=[20],
        metavar="US",
        help="how long a rank computes behind each transaction, in microseconds, with commas "
        "between several numbers; not at all is always measured (default: 20)",
    )
    parser.add_argument(
        "--words",
        type=positive,
        default=1024,
        metavar="W",
        help="words of 8 bytes in each rank's window (default: 1024)",
    )
    add_rounds(parser, 2)
    parser.add_argument(
        "--batches",
        type=positive,
        default=5,
        metavar="B",
        help="how many batches a run measures of each variant (default: 5)",
    )
    _add_window(parser, "the words are")


# Of the subjects whose module has another name.
MODULES = {"report": "recording"}
# What adds the options of each, and a summary.
SUBJECTS = {
    "micro": (_micro, "time of every kind of call against the host MPIs"),
    "pending": (_pending, "many pending epochs: completion and memory"),
    "halo": (_halo, "an exchange of ghost cells against messages"),
    "progress": (_progress, "puts to a target that computes"),
    "network": (_network, "calls between two nodes, to a target that waits or computes"),
    "report": (_report, "what a report, a timeline and counters of MPI_T cost"),
    "notify": (_notify, "notified access against messages and one-sided calls"),
    "stencil": (_stencil, "a pipelined stencil: notified access against messages"),
    "wavefront": (
        _wavefront,
        "a row of a pipelined stencil against the best host's messages",
    ),
    "tree": (_tree, "a reduction along a tree: notified access against messages"),
    "cholesky": (
        _cholesky,
        "a Cholesky factorization by tasks: notified access against messages",
    ),
    "lu": (
        _lu,
        "an LU decomposition: nonblocking epochs against blocking ones and messages",
    ),
    "windows": (
        _windows,
        "put and flush by kind of window, and what making the window costs",
    ),
    "threads": (_threads, "put and flush by many threads, by scope and order of the window"),
    "alltoallv": (_alltoallv, "persistent all-to-all exchanges against the host's calls"),
    "collectives": (
        _collectives,
        "the other persistent collectives against the host's calls",
    ),
    "sparse": (
        _sparse,
        "the exchange of a sparse matrix-vector product against the host's calls",
    ),
    "transactions": (_transactions, "unstructured updates, each in a lock epoch of its own"),
}
