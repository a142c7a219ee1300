# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench tree`, after Figure 4c of the paper: the time of a reduction over the
size of a contribution."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.tree.tree_times import TITLES, TreeTimes
from oriel.bench.variant_times import MESSAGES
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text

LINES = {
    MESSAGES: {"color": INK, "marker": "s", "linewidth": 1.8},
    "reduce": {"color": MUTED, "marker": "v", "linestyle": DASHES, "linewidth": 1.8},
    "fence": {"color": COLOURS["host"], "marker": "D", "linewidth": 1.8},
    "post_start": {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8},
    "flag": {"color": "#7fb4d0", "marker": "x", "linewidth": 1.8},
    "notify": {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 3},
}
WAYS = {HOST: "alone", ORIEL: "with Oriel"}


def draw(times: TreeTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a row of panels per host, alone and with Oriel."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts),
            len(WAYS),
            figsize=(4.2 * len(WAYS) + 1, 2.9 * len(hosts) + 1.2),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey="row",
        )
        handles: dict[str, object] = {}
        for host, row in zip(hosts, grid):
            row[0].set_ylabel("time of a reduction (µs)", fontsize=9)
            for (way, text), axes in zip(WAYS.items(), row):
                handles |= _lines(axes, times, host, way)
                axes.set_title(f"{versions[host]} {text}", loc="left", fontsize=10)
        for axes in grid[-1]:
            axes.set_xlabel("size of a contribution", fontsize=9)
        drawing.title(figure, f"Reduction, {times.shape_text()}")
        drawing.legend(figure, handles.values(), handles.keys(), len(handles), where)
        drawing.save(figure, path)


def _lines(axes: Axes, times: TreeTimes, host: str, way: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    sizes = times.cases()
    handles = {}
    for variant, style in LINES.items():
        points = [(size, times.median(variant, size, host, way)) for size in sizes]
        points = [(size, time) for size, time in points if time]
        if points:
            (line,) = axes.plot(*zip(*points), markersize=5, **style)
            handles[TITLES.get(variant, variant)] = line
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=8)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
