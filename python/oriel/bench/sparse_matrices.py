# SPDX-License-Identifier: BSD-3-Clause
"""The matrices of `oriel bench sparse`: a generated mesh, those that pyamg ships, and files in the
Matrix Market format. Only where the nonzeros are is asked of them. And what the ranks of a product
with them send to one another.

scipy and pyamg are imported where they are needed: the other benchmarks do without them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oriel.bench.subjects import EXAMPLES, MESH

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


ENTRY_BYTES = 8  # an element of the program alltoallv


def counts(matrix: Matrix, ranks: int) -> np.ndarray:
    """How many entries rank i (first index) sends to rank j."""
    if ranks > min(matrix.rows, matrix.columns):
        raise MatrixError(
            f"The matrix {matrix.name} has {matrix.rows} rows and {matrix.columns} columns, too "
            f"few to deal them to {ranks} ranks. Start fewer, or take a larger matrix."
        )
    ends_of_rows, starts_of_columns = (
        _blocks(matrix.rows, ranks)[1:],
        _blocks(matrix.columns, ranks),
    )
    receiver = np.searchsorted(ends_of_rows, matrix.row, side="right")
    result = np.zeros((ranks, ranks), dtype=np.int64)
    for rank in range(ranks):
        needed = np.zeros(matrix.columns, dtype=np.int64)
        needed[matrix.column[receiver == rank]] = 1
        result[:, rank] = np.add.reduceat(needed, starts_of_columns[:-1])
    np.fill_diagonal(result, 0)
    return result


def _blocks(length: int, ranks: int) -> np.ndarray:
    """Where each rank's block starts, and the end of the last one."""
    return np.arange(ranks + 1) * length // ranks


def as_text(pattern: np.ndarray) -> str:
    """As the program alltoallv reads it: a line for each sender."""
    return "".join(" ".join(map(str, line)) + "\n" for line in pattern.tolist())
