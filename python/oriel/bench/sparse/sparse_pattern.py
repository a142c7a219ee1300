# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a sparse matrix-vector product send to one another."""

from __future__ import annotations

import numpy as np

from oriel.bench.sparse.sparse_matrices import Matrix, MatrixError

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
