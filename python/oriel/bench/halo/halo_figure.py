# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench halo`: each kind of epoch against messages, over the size."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.halo.halo_times import PAPER, PAPER_TITLES, TITLES, VARIANTS, HaloTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text

LINES = {
    HOST: {"color": COLOURS["host"], "marker": "s", "linewidth": 3, "markersize": 6},
    ORIEL: {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 1.8, "markersize": 5},
}
PAPER_LINES = {
    "cluster": {"color": MUTED, "linewidth": 1, "linestyle": ":"},
    "SMP": {"color": COLOURS["blocking"], "linewidth": 1, "linestyle": "--"},
}


def draw(times: HaloTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a row of panels per host, a panel per kind of epoch."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts),
            len(VARIANTS),
            figsize=(3 * len(VARIANTS) + 1, 2.9 * len(hosts) + 1.2),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, row in zip(hosts, grid):
            for variant, axes in zip(VARIANTS, row):
                handles |= _lines(axes, times, variant, host)
                axes.set_title(f"{versions[host]}, {TITLES[variant]}", loc="left", fontsize=10)
        for axes in grid[-1]:
            axes.set_xlabel("size of a message", fontsize=9)
        for axes in grid[:, 0]:
            axes.set_ylabel("time / the host's messages", fontsize=9)
        ranks = " × ".join(str(extent) for extent in times.grid)
        drawing.title(
            figure,
            f"Exchange of ghost cells, {ranks} ranks: time against point-to-point (below 1: less)",
        )
        drawing.legend(figure, handles.values(), handles.keys(), len(handles), where)
        drawing.save(figure, path)


def _lines(axes: Axes, times: HaloTimes, variant: str, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    for paper, style in PAPER_LINES.items():
        ratios = PAPER[paper].get(variant, {})
        (line,) = axes.plot(list(ratios), list(ratios.values()), **style)
        handles[PAPER_TITLES[paper]] = line
    for way, label in ((HOST, "the host's own"), (ORIEL, "with Oriel")):
        points = [(size, times.ratio(variant, size, host, way)) for size in times.cases()]
        points = [(size, ratio) for size, ratio in points if ratio]
        (line,) = axes.plot(*zip(*points), **LINES[way]) if points else axes.plot([], [])
        handles[label] = line
    axes.axhline(1.0, color=INK, linewidth=1)
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    sizes = times.cases()
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=7, rotation=30)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
