# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench windows`, after Figures 4 and 12 of the paper: put and flush over the
size, a line for each kind of window, a panel for each host."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.ratio_table import WAY_TITLES
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.bench.windows.windows_times import PUT, WindowTimes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, MUTED, STYLE, plt
from oriel.report.units import size_text

KINDS = {
    "allocated": {"color": COLOURS["nonblocking"], "marker": "o"},
    "created": {"color": MUTED, "marker": "v"},
    "created-alloc": {"color": "#5f9e6e", "marker": "^"},
    "dynamic": {"color": COLOURS["blocking"], "marker": "s"},
    "dynamic-alloc": {"color": "#8f7fb8", "marker": "D"},
    "duplicate": {"color": "#5aa6a6", "marker": "X"},
    "handle": {"color": "#a3785a", "marker": "<"},
    "handle-alloc": {"color": "#c75d8a", "marker": ">"},
    "handle-alloc-new": {"color": "#9aa64a", "marker": "*"},
}
OTHER_KIND = {"color": "#b05454", "marker": "P"}
LINES = {
    HOST: {"linestyle": DASHES, "linewidth": 1.2, "markersize": 4, "markerfacecolor": "white"},
    ORIEL: {"linewidth": 1.8, "markersize": 4},
}


def draw(
    times: WindowTimes,
    versions: dict[str, str],
    ranks: tuple[int, int],
    caption: str,
    path: Path,
) -> None:
    """Writes `path` (PNG) and its SVG. `ranks` on how many nodes."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1,
            len(hosts),
            figsize=(max(9.0, 3.8 * len(hosts) + 1.6), 5.6),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, axes in zip(hosts, grid[0]):
            handles |= _lines(axes, times, host)
            axes.set_title(versions[host], loc="left", fontsize=10)
            axes.set_xlabel("size of a put", fontsize=9)
        grid[0, 0].set_ylabel("time of put and flush (µs)", fontsize=9)
        drawing.title(figure, f"Put by kind of window, {drawing.ranks_on(*ranks)}")
        columns = max(3, len(hosts) + 2)
        drawing.legend(figure, handles.values(), handles.keys(), columns, caption)
        drawing.save(figure, path)


def _lines(axes: Axes, times: WindowTimes, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    sizes = times.columns(PUT)
    handles = {}
    for window in times.windows(PUT):
        for way in WAYS:
            points = [(size, times.median(PUT, window, size, host, way)) for size in sizes]
            points = [(size, time) for size, time in points if time]
            style = {**KINDS.get(window, OTHER_KIND), **LINES[way]}
            if points:
                label = f"{window}, {WAY_TITLES[way]}"
                (handles[label],) = axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=7, rotation=45)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
