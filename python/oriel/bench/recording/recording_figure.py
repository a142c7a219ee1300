# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench report`: for each call a bar for each way, a panel for each host."""

from __future__ import annotations

from pathlib import Path

from oriel.bench.recording.recording_times import (
    COUNTER,
    REPORT,
    TIMELINE,
    TITLES,
    RecordingTimes,
    row_title,
)
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, STYLE, plt

_COLOURS = {
    HOST: COLOURS["host"],
    ORIEL: COLOURS["nonblocking"],
    REPORT: COLOURS["blocking"],
    TIMELINE: "#b05454",
    COUNTER: "#8f7fb8",
}
_WIDTH = 0.17  # of a bar; the distance of two groups is 1


def draw(times: RecordingTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG."""
    hosts = times.hosts()
    rows = times.rows()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts), 1, figsize=(11, 2.9 * len(hosts) + 1.8), layout="constrained", squeeze=False
        )
        for host, axes in zip(hosts, grid[:, 0]):
            for number, way in enumerate(TITLES):
                found = [
                    (place + (number - 2) * _WIDTH, 1e3 * us)
                    for place, row in enumerate(rows)
                    if (us := times.median(row, host, way))
                ]
                places, heights = zip(*found)
                axes.bar(places, heights, _WIDTH, color=_COLOURS[way], label=TITLES[way])
                labels = [f"{ns:.1f}" if ns < 100 else f"{ns:,.0f}" for ns in heights]
                drawing.label_bars(axes, zip(places, heights, labels), size=5)
            drawing.logarithmic(axes)
            axes.set_ylabel("ns", fontsize=9)
            axes.set_xticks(
                range(len(rows)), [row_title(row).replace(", ", ",\n") for row in rows], fontsize=7
            )
            axes.yaxis.grid(True, color=GRID)
            axes.tick_params(axis="both", length=0)
            axes.set_title(versions[host], loc="left", fontsize=10)
        drawing.title(figure, "What a report, a timeline and a counter of MPI_T add to a call")
        drawing.legend(figure, *grid[0, 0].get_legend_handles_labels(), len(TITLES), where)
        drawing.save(figure, path)
