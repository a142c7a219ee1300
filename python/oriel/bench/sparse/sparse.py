# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench sparse`: the exchange of a sparse matrix-vector product, by the algorithms of
ORIEL_Alltoallv_init against the host's own calls."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.alltoallv import alltoallv_tables
from oriel.bench.alltoallv.alltoallv_times import AlltoallvTimes, variants
from oriel.bench.lines import Line
from oriel.bench.requests import request_tables
from oriel.bench.requests.request_options import TIMEOUT_S, lengths
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.sparse import sparse_figures, sparse_matrices
from oriel.bench.sparse.sparse_matrices import Matrix, MatrixError
from oriel.bench.sparse.sparse_options import DEFINITION, MATRICES
from oriel.bench.sparse.sparse_pattern import ENTRY_BYTES, as_text, counts
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.hosts.temporary_folder import TemporaryFolder
from oriel.report.console import progress_bar
from oriel.report.units import size_text

QUICK_TRIANGLES = 2000
MOST_PAIRS = 16  # ranks: for more of them the table has totals only


@dataclass(frozen=True)
class Product:
    """A matrix on so many ranks, what they exchange for it, and how long that takes."""

    matrix: Matrix
    pattern: np.ndarray
    times: AlltoallvTimes = field(default_factory=AlltoallvTimes)

    @property
    def name(self) -> str:
        return self.matrix.name

    def as_json(self) -> dict:
        return {
            "matrix": self.name,
            "rows": self.matrix.rows,
            "columns": self.matrix.columns,
            "nonzeros": self.matrix.nonzeros,
            "counts": self.pattern.tolist(),
        }


def _load(arguments: argparse.Namespace) -> list[Product]:
    wanted = arguments.matrix or MATRICES
    triangles = QUICK_TRIANGLES if arguments.quick else arguments.triangles
    products = []
    with progress_bar() as bar:
        task = bar.add_task("", total=len(wanted))
        for what in wanted:
            bar.update(task, description=f"reading {what}")
            matrix = sparse_matrices.load(what, triangles)
            products.append(Product(matrix, counts(matrix, arguments.n)))
            bar.advance(task)
        bar.update(task, description="matrices read")
    return products


def _counts(product: Product) -> Table:
    matrix, pattern = product.matrix, product.pattern
    table = Table(
        title=f"{matrix.name}: {matrix.rows:,} rows, {matrix.nonzeros:,} nonzeros; entries of "
        f"{ENTRY_BYTES} B from each rank to each, the longest message "
        f"{size_text(ENTRY_BYTES * int(pattern.max()))}",
        title_justify="left",
    )
    ranks = range(len(pattern))
    shown = ranks if len(pattern) <= MOST_PAIRS else ()
    table.add_column("from", justify="right")
    for rank in shown:
        table.add_column(f"to {rank}", justify="right")
    for total in ("sent", "received", "sent to"):
        table.add_column(total, justify="right")
    for rank in ranks:
        row = pattern[rank]
        pairs = [f"{row[other]:,}" if row[other] else "·" for other in shown]
        totals = (f"{row.sum():,}", f"{pattern[:, rank].sum():,}", f"{np.count_nonzero(row)} ranks")
        table.add_row(str(rank), *pairs, *totals)
    table.add_section()
    columns = [f"{pattern[:, rank].sum():,}" for rank in shown]
    total = f"{pattern.sum():,}"
    table.add_row("all", *columns, total, total, f"{np.count_nonzero(pattern)} pairs")
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "alltoallv")
    versions = setting.versions
    rounds, options = lengths(arguments)
    try:
        products = _load(arguments)
    except MatrixError as error:
        print(f"oriel bench sparse: {error}", file=sys.stderr)
        return 1
    failures: list[str] = []
    with TemporaryFolder("sparse") as folder:
        for number, product in enumerate(products):
            path = folder / f"{number}.txt"
            path.write_text(as_text(product.pattern), encoding="ascii")
            words = [*options, "--counts", str(path)]

            def program(host: Host, way: str, words: Sequence[str] = words) -> Sequence[str]:
                return [str(own_program(host, "alltoallv")), *variants(way), *words]

            failures += play(
                setting.hosts,
                rounds,
                arguments.n,
                program,
                product.times.read,
                TIMEOUT_S,
                nodes,
                WITHOUT_UCX,
            )
    lines = [
        Line(product.name, (product.name,), product.times, case)
        for product in products
        for case in product.times.cases()
    ]
    for product in products:
        console.print(_counts(product))
    for host in request_tables.hosts(lines):
        for table in (alltoallv_tables.exchanges, alltoallv_tables.making):
            console.print(table(lines, ("Matrix",), host, versions[host]))
    console.print(f"{DEFINITION} {alltoallv_tables.LEGEND}", highlight=False)
    notes = [
        *alltoallv_tables.notes(lines, versions),
        *setting.crowded(arguments.n),
    ]
    place = setting.place(f"{arguments.n} ranks, rounds: {rounds}")
    rows = [{"matrix": each.name, **row} for each in products for row in each.times.as_json()]
    failed = [
        {"matrix": each.name, **row} for each in products for row in each.times.failures_as_json()
    ]
    results = setting.results(
        rows,
        ranks=arguments.n,
        rounds=rounds,
        definition=DEFINITION,
        matrices=[product.as_json() for product in products],
        failed=failed,
    )

    def draw(where: str, path: Path) -> None:
        sparse_figures.draw(products, versions, (arguments.n, arguments.hosts), where, path.parent)

    path = arguments.output / "sparse.png"
    figures = [f"{name}.png" for name in sparse_figures.NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
