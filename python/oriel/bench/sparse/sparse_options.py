# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench sparse`, and the names of its matrices."""

from __future__ import annotations

import argparse

from oriel.bench.options import positive
from oriel.bench.requests.request_options import add_lengths

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
RANKS = 8  # the paper's
MATRICES = (MESH, "helmholtz_2D")
TRIANGLES = 500_000

# What the help and the tables say of it.
DEFINITION = (
    "The rows of the matrix and the entries of the vector are dealt to the ranks in equal "
    "contiguous blocks; each rank sends to each other one, once, those of its entries that have a "
    "nonzero in the other one's rows, 8 B each: the exchange of a sparse matrix-vector product."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DEFINITION
    parser.add_argument(
        "-n",
        type=positive,
        default=RANKS,
        metavar="RANKS",
        help=f"ranks (default: {RANKS})",
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
        default=TRIANGLES,
        metavar="T",
        help=f"rows of {MESH}, about (default: {TRIANGLES})",
    )
    add_lengths(parser)
