# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `oriel bench sparse`, after Figures 3 and 4 of the paper: the time of an exchange
by each call and algorithm, and how much each rank sends to each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from oriel.bench.alltoallv.alltoallv_figures import WAYS, label
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import time_text

if TYPE_CHECKING:
    from oriel.bench.sparse.sparse import Product

NAMES = ("sparse", "sparse_counts")

BARS = {HOST: COLOURS["host"], ORIEL: COLOURS["nonblocking"]}
HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#8fb9cf", "#14648c", "#0b2f45"])
MOST_NUMBERS = 10  # ranks: for more of them the fields have no numbers
MAPS_IN_A_ROW = 3


def draw(
    products: Sequence[Product],
    versions: dict[str, str],
    ranks: tuple[int, int],
    where: str,
    folder: Path,
) -> None:
    """Writes both figures into the folder (PNG and SVG). `ranks` on how many nodes."""
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
