# SPDX-License-Identifier: BSD-3-Clause
"""What `oriel bench sparse` makes of a matrix (C3)."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from oriel.bench import sparse_matrices
from oriel.bench.sparse_matrices import EXAMPLES, Matrix, MatrixError, as_text, counts, load, mesh

SYMMETRIC = """%%MatrixMarket matrix coordinate pattern symmetric
% only the lower triangle is in the file
6 6 5
2 1
3 3
5 1
6 1
6 2
"""


def matrix_of(rows: int, columns: int, *nonzeros: tuple[int, int]) -> Matrix:
    row, column = np.array(nonzeros).T
    return Matrix("given", rows, columns, row, column)


def counted_slowly(matrix: Matrix, ranks: int) -> np.ndarray:
    """By the definition, word for word."""

    def owner(index: int, length: int) -> int:
        blocks = [rank * length // ranks for rank in range(ranks + 1)]
        return next(rank for rank in range(ranks) if blocks[rank] <= index < blocks[rank + 1])

    result = np.zeros((ranks, ranks), dtype=int)
    needed = {(owner(row, matrix.rows), column) for row, column in zip(matrix.row, matrix.column)}
    for receiver, column in needed:
        sender = owner(column, matrix.columns)
        result[sender, receiver] += sender != receiver
    return result


def test_an_entry_is_sent_once_to_each_rank_that_needs_it():
    # Rank 1 has two rows with a nonzero in column 0; nobody is sent what is its own.
    matrix = matrix_of(4, 4, (0, 0), (2, 0), (3, 0), (3, 3), (1, 3), (3, 1))
    assert counts(matrix, 2).tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize(("rows", "columns"), [(7, 7), (40, 23), (23, 40)])
def test_counts_are_those_of_the_definition(ranks, rows, columns):
    random = np.random.default_rng(ranks)
    nonzeros = zip(random.integers(rows, size=60), random.integers(columns, size=60))
    matrix = matrix_of(rows, columns, *nonzeros)
    assert counts(matrix, ranks).tolist() == counted_slowly(matrix, ranks).tolist()


def test_more_ranks_than_rows_are_a_sentence():
    with pytest.raises(MatrixError, match="has 3 rows and 9 columns, too few .* to 4 ranks"):
        counts(matrix_of(3, 9, (0, 0)), 4)


def test_the_program_reads_a_line_for_each_sender():
    assert as_text(np.array([[0, 12], [3, 0]])) == "0 12\n3 0\n"


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
def test_matrix_market_files_are_read(tmp_path, ending):
    path = tmp_path / f"small{ending}"
    content = SYMMETRIC.encode()
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    matrix = load(str(path), 0)
    assert (matrix.name, matrix.rows, matrix.columns, matrix.nonzeros) == ("small", 6, 6, 9)
    assert counts(matrix, 2).tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.mtx", b"hello\n"),
        ("empty.mtx", b""),
        ("outside.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n"),
        ("short.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n"),
        ("plain.mtx.gz", SYMMETRIC.encode()),
        ("cut.mtx.gz", gzip.compress(SYMMETRIC.encode(), mtime=0)[:40]),
        ("spoilt.mtx.gz", gzip.compress(SYMMETRIC.encode(), mtime=0)[:20] + b"\xff" * 60),
    ],
)
def test_other_files_are_a_sentence(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MatrixError, match=f"{name} cannot be read as a matrix in the Matrix Mark"):
        load(str(path), 0)


def test_a_missing_file_is_a_sentence():
    with pytest.raises(MatrixError, match="There is no file nosuch.mtx, and no matrix of that"):
        load("nosuch.mtx", 0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_along(name):
    matrix = load(name, 0)
    assert matrix.name == name
    assert matrix.nonzeros > matrix.rows
    assert counts(matrix, 8).sum() > 0


def test_the_mesh_is_planar_and_skewed():
    matrix = mesh(20_000)
    assert matrix.rows == pytest.approx(20_000, rel=0.01)
    pairs = set(zip(matrix.row.tolist(), matrix.column.tolist()))
    assert pairs == {(column, row) for row, column in pairs}
    assert all(row != column for row, column in pairs)
    degrees = np.bincount(matrix.row, minlength=matrix.rows)
    assert degrees.min() >= 1
    assert degrees.max() == 3
    # As in Figure 4 of the paper: some pairs share much, and others little or nothing.
    pattern = counts(matrix, 8)
    others = pattern[~np.eye(8, dtype=bool)]
    assert others.max() > 5 * np.median(others)
    again = sparse_matrices.load("mesh", 20_000)
    assert np.array_equal(counts(again, 8), pattern)
