# SPDX-License-Identifier: BSD-3-Clause
"""The matrices of `oriel bench sparse`: a generated mesh, those that pyamg ships, and files in the
Matrix Market format. Only where the nonzeros are is asked of them.

scipy and pyamg are imported where they are needed: the other benchmarks do without them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oriel.bench.sparse.sparse_options import EXAMPLES, MESH

_LEVELS = 5  # of the mesh's refinement
_SEED = 20


class MatrixError(Exception):
    """A sentence for the user: what was given is no matrix that can be used."""


@dataclass(frozen=True)
class Matrix:
    name: str
    rows: int
    columns: int
    # Where the nonzeros are, in any order.
    row: np.ndarray
    column: np.ndarray

    @property
    def nonzeros(self) -> int:
        return len(self.row)


def load(what: str, triangles: int) -> Matrix:
    """`what` is the name of one of the matrices above, or a file."""
    if what == MESH:
        return mesh(triangles)
    if what in EXAMPLES:
        from pyamg.gallery import load_example

        return _matrix(what, load_example(what)["A"])
    return _from_file(Path(what))


def _from_file(path: Path) -> Matrix:
    from scipy.io import mmread

    if not path.is_file():
        names = ", ".join((MESH, *EXAMPLES))
        raise MatrixError(
            f"There is no file {path}, and no matrix of that name comes along ({names})."
        )
    try:
        content = mmread(path)
    except (ValueError, TypeError, EOFError, OverflowError, OSError, zlib.error) as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise MatrixError(
            f"{path} cannot be read as a matrix in the Matrix Market format: {reason}."
        ) from error
    return _matrix(path.name.removesuffix(".gz").removesuffix(".mtx"), content)


def _matrix(name: str, content) -> Matrix:
    from scipy.sparse import coo_array

    found = coo_array(content)
    rows, columns = found.shape
    return Matrix(name, rows, columns, found.row, found.col)


def mesh(triangles: int) -> Matrix:
    """Like the hugetrace matrices of the SuiteSparse collection: the triangles of a planar mesh
    that was refined along a curve in several levels, each with a nonzero for each neighbour. Those
    that a level made are numbered behind all older ones, from left to right: so the last rows are
    those of the finest triangles, and what two ranks share differs much from pair to pair."""
    from scipy.spatial import Delaunay

    random = np.random.default_rng(_SEED)
    # A planar mesh has about two triangles for each point.
    each = max(triangles // (2 * _LEVELS), 4)
    levels = []
    for level in range(_LEVELS):
        across = random.random(each)
        distance = random.uniform(-0.5, 0.5, each) * 2.0**-level
        curve = 0.5 + 0.2 * np.sin(2 * np.pi * across)
        levels.append(np.column_stack((across, curve + distance))[np.argsort(across)])
    drawn = Delaunay(np.concatenate(levels))
    order = np.argsort(drawn.simplices.max(axis=1), kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    triangle, side = np.nonzero(drawn.neighbors >= 0)
    neighbour = drawn.neighbors[triangle, side]
    size = len(order)
    return Matrix(MESH, size, size, number[triangle], number[neighbour])
