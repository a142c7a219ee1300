# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench stencil`, after Figures 1 and 4b of the paper: the speed of each
variant, as bars."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.stencil.stencil_times import TITLES, StencilTimes
from oriel.bench.variant_times import MESSAGES
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, INK, STYLE, plt

BARS = {
    HOST: (COLOURS["host"], "the host's own"),
    ORIEL: (COLOURS["nonblocking"], "with Oriel"),
}


def draw(times: StencilTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a row of panels per domain, a panel per host."""
    hosts = times.hosts()
    scalings = times.cases()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(scalings),
            len(hosts),
            figsize=(3.2 * len(hosts) + 2, 2.6 * len(scalings) + 1.2),
            layout="constrained",
            squeeze=False,
            sharey="row",
        )
        handles: dict[str, object] = {}
        for scaling, row in zip(scalings, grid):
            row[0].set_ylabel(f"GMOPS\n{times.domain_text(scaling)}", fontsize=9)
            for host, axes in zip(hosts, row):
                handles |= _bars(axes, times, scaling, host)
        for host, axes in zip(hosts, grid[0]):
            axes.set_title(versions[host], loc="left", fontsize=10)
        drawing.title(figure, f"Pipelined stencil, {times.ranks} ranks (higher: faster)")
        drawing.legend(figure, handles.values(), handles.keys(), len(handles), where)
        drawing.save(figure, path)


def _bars(axes: Axes, times: StencilTimes, scaling: str, host: str) -> dict[str, object]:
    """Draws one panel; returns what the legend names, by its labels."""
    width = 0.84 / len(BARS)
    handles: dict[str, object] = {}
    for index, (way, (colour, label)) in enumerate(BARS.items()):
        points = [
            (column - 0.42 + (index + 0.5) * width, times.gmops(variant, scaling, host, way))
            for column, variant in enumerate(TITLES)
        ]
        points = [(x, gmops) for x, gmops in points if gmops]
        if not points:
            continue
        handles[label] = axes.bar(*zip(*points), width * 0.92, color=colour)
        drawing.label_bars(axes, ((x, gmops, f"{gmops:.2f}") for x, gmops in points))
    messages = times.gmops(MESSAGES, scaling, host, HOST)
    if messages:
        line = axes.axhline(messages, color=INK, linewidth=0.8, linestyle=DASHES)
        handles["the host's messages"] = line
    axes.set_xticks(range(len(TITLES)), TITLES.values(), fontsize=8)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
