# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench progress`, after Figure 5 of the paper: an operation's time by window
and target, as bars on a logarithmic scale."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.progress.progress_times import BUSY, IDLE, ProgressTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import GRID, STYLE, plt

BARS = {
    (HOST, IDLE): ("#d5dbe0", "the host's own, idle target"),
    (HOST, BUSY): ("#87949f", "the host's own, busy target"),
    (ORIEL, IDLE): ("#7fb4d0", "Oriel, idle target"),
    (ORIEL, BUSY): ("#14648c", "Oriel, busy target"),
}


def draw(times: ProgressTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1,
            len(hosts),
            figsize=(len(times.windows()) * len(hosts) + 3, 4.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, axes in zip(hosts, grid[0]):
            handles |= _bars(axes, times, host)
            axes.set_title(versions[host], loc="left", fontsize=10)
        grid[0, 0].set_ylabel("time of put and flush (µs)", fontsize=9)
        drawing.title(figure, "8 B to a target that waits in MPI, or computes")
        drawing.legend(
            figure, handles.values(), handles.keys(), 2, f"!: waited until it was back. {where}"
        )
        drawing.save(figure, path)


def _bars(axes: Axes, times: ProgressTimes, host: str) -> dict[str, object]:
    """Draws one host's bars; returns them by their labels."""
    windows = times.windows()
    width = 0.84 / len(BARS)
    handles = {}
    for index, ((way, target), (colour, label)) in enumerate(BARS.items()):
        points = [
            (
                column - 0.42 + (index + 0.5) * width,
                times.median(window, target, host, way),
                "!" if target == BUSY and times.waits(window, host, way) else "",
            )
            for column, window in enumerate(windows)
        ]
        points = [point for point in points if point[1]]
        handles[label] = axes.bar(
            [x for x, _, _ in points], [time for _, time, _ in points], width * 0.92, color=colour
        )
        drawing.label_bars(axes, ((x, time, f"{time:.2g}{mark}") for x, time, mark in points))
    drawing.logarithmic(axes)
    axes.margins(y=0.15)
    axes.set_xticks(range(len(windows)), windows, fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
