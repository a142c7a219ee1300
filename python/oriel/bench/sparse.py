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
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from rich.console import Console
from rich.table import Table

from oriel.bench import alltoallv_times, outcome, requests, sparse_matrices
from oriel.bench.alltoallv import WAYS, label
from oriel.bench.alltoallv_times import AlltoallvTimes, variants
from oriel.bench.lines import Line
from oriel.bench.requests import TIMEOUT_S, lengths
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.sparse_matrices import ENTRY_BYTES, Matrix, MatrixError, as_text, counts
from oriel.bench.subjects import DEFINITION, MATRICES
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.hosts.temporary_folder import TemporaryFolder
from oriel.report import drawing
from oriel.report.console import progress_bar
from oriel.report.drawing import COLOURS, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text, time_text

NAMES = ("sparse", "sparse_counts")

BARS = {HOST: COLOURS["host"], ORIEL: COLOURS["nonblocking"]}
HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#8fb9cf", "#14648c", "#0b2f45"])
MOST_NUMBERS = 10  # ranks: for more of them the fields have no numbers
MAPS_IN_A_ROW = 3


def _draw(
    products: Sequence[Product],
    versions: dict[str, str],
    ranks: tuple[int, int],
    where: str,
    folder: Path,
) -> None:
    """After Figures 3 and 4 of the paper: the time of an exchange by each call and algorithm,
    and how much each rank sends to each, of `ranks` on how many nodes."""
    with plt.rc_context(STYLE):
        figure = _times(products, versions)
        drawing.title(
            figure, f"Exchange of a sparse matrix-vector product, {drawing.ranks_on(*ranks)}"
        )
        handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in BARS.values()]
        drawing.legend(figure, handles, ["the host's own", "with Oriel"], 2, where)
        drawing.save(figure, folder / f"{NAMES[0]}.png")

        figure = _maps(products)
        drawing.title(figure, f"Entries of 8 B from each rank to each, {ranks[0]} ranks")
        drawing.save(figure, folder / f"{NAMES[1]}.png")


def _times(products: Sequence[Product], versions: dict[str, str]) -> Figure:
    hosts = products[0].times.hosts()
    figure, grid = plt.subplots(
        len(products),
        len(hosts),
        figsize=(max(9.0, 3.8 * len(hosts) + 1.2), 2.8 * len(products) + 1.2),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for product, row in zip(products, grid):
        for host, axes in zip(hosts, row):
            _bars(axes, product, host)
            axes.set_title(f"{versions[host]}, {product.name}", loc="left", fontsize=10)
    for axes in grid[-1]:
        axes.set_xlabel("time of an exchange (µs)", fontsize=9)
    return figure


def _bars(axes: Axes, product: Product, host: str) -> None:
    names = [(variant, way) for way, variants in WAYS.items() for variant in variants]
    cases = product.times.cases()
    for place, (variant, way) in enumerate(names):
        time = product.times.median(variant, cases[0], host, way)
        if not time:
            axes.text(0.01, place, "–", transform=axes.get_yaxis_transform(), va="center")
            continue
        axes.barh(place, time, 0.75, color=BARS[way])
        axes.annotate(
            time_text(time),
            (time, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=INK,
        )
    axes.set_yticks(range(len(names)), [label(*name) for name in names], fontsize=8, color=INK)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.15)
    axes.xaxis.grid(True, color=GRID)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(axis="both", length=0, labelsize=8)


def _maps(products: Sequence[Product]) -> Figure:
    columns = min(len(products), MAPS_IN_A_ROW)
    rows = -(-len(products) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(max(6.0, 5.0 * columns), 4.6 * rows + 0.4),
        layout="constrained",
        squeeze=False,
    )
    for axes in grid.flat[len(products) :]:
        axes.set_visible(False)
    for product, axes in zip(products, grid.flat):
        image = axes.imshow(product.pattern, cmap=HEAT, vmin=0)
        colours = figure.colorbar(image, ax=axes, shrink=0.85)
        colours.outline.set_visible(False)
        colours.ax.tick_params(length=0, labelsize=7)
        most = product.pattern.max()
        if len(product.pattern) <= MOST_NUMBERS:
            for (sender, receiver), count in _fields(product):
                colour = "#ffffff" if count > 0.4 * most else INK if count else MUTED
                axes.text(
                    receiver, sender, f"{count}", ha="center", va="center", fontsize=7, color=colour
                )
        axes.set_title(
            f"{product.name}: {product.matrix.rows:,} rows", loc="left", fontsize=10, pad=8
        )
        axes.set_xlabel("to rank", fontsize=9)
        axes.set_ylabel("from rank", fontsize=9)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[:].set_visible(False)
        axes.tick_params(axis="both", length=0, labelsize=8)
    return figure


def _fields(product: Product):
    for sender, row in enumerate(product.pattern.tolist()):
        for receiver, count in enumerate(row):
            yield (sender, receiver), count


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
    for host in requests.hosts(lines):
        for table in (alltoallv_times.exchanges, alltoallv_times.making):
            console.print(table(lines, ("Matrix",), host, versions[host]))
    console.print(f"{DEFINITION} {alltoallv_times.LEGEND}", highlight=False)
    notes = [
        *alltoallv_times.notes(lines, versions),
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
        _draw(products, versions, (arguments.n, arguments.hosts), where, path.parent)

    path = arguments.output / "sparse.png"
    figures = [f"{name}.png" for name in NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
