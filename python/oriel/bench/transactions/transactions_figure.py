# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench transactions`, after Figure 12 of the paper: transactions per second
over the number of ranks."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.transactions.transactions_times import (
    BLOCKING,
    NONBLOCKING,
    REORDERED,
    TransactionsTimes,
)
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, STYLE, plt

LINES = {
    (BLOCKING, HOST): (
        "the host's own",
        {"color": COLOURS["host"], "marker": "s", "linewidth": 3, "markersize": 6},
    ),
    (BLOCKING, ORIEL): (
        "Oriel, blocking",
        {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8, "markersize": 6},
    ),
    (NONBLOCKING, ORIEL): (
        "Oriel, nonblocking",
        {"color": COLOURS["nonblocking"], "marker": "o", "linestyle": DASHES, "markersize": 5},
    ),
    (REORDERED, ORIEL): (
        "Oriel, nonblocking with A_A_A_R",
        {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 1.8, "markersize": 5},
    ),
}


def draw(times: TransactionsTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a panel per host and length of the computation."""
    hosts = times.hosts()
    computations = times.computations()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(computations),
            len(hosts),
            figsize=(max(9, 3.6 * len(hosts) + 1), 2.9 * len(computations) + 1.4),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey="row",
        )
        handles: dict[str, object] = {}
        for compute_us, row in zip(computations, grid):
            for host, axes in zip(hosts, row):
                handles |= _lines(axes, times, compute_us, host)
                computing = f"{compute_us} µs of computation" if compute_us else "back to back"
                axes.set_title(f"{versions[host]}, {computing}", loc="left", fontsize=10)
            row[0].set_ylabel("transactions per second", fontsize=9)
        for axes in grid[-1]:
            axes.set_xlabel("ranks", fontsize=9)
        drawing.title(figure, "Updates in exclusive lock epochs: transactions of all ranks")
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _lines(axes: Axes, times: TransactionsTimes, compute_us: int, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    for (variant, way), (label, style) in LINES.items():
        points = [
            (ranks, times.rate(variant, ranks, compute_us, host, way)) for ranks in times.ranks()
        ]
        points = [point for point in points if point[1]]
        if points:
            (handles[label],) = axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    axes.set_xticks(times.ranks(), [str(ranks) for ranks in times.ranks()], fontsize=9)
    axes.minorticks_off()
    axes.set_yscale("log")
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
