# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench micro`: every row's times as bars on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.micro.micro_times import TITLES, Row, Timings
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import GRID, STYLE, plt
from oriel.report.units import size_text

# Light to dark within the hosts and within ours.
COLOURS = {
    HOST: ("#d5dbe0", "#b0bac4", "#87949f"),
    ORIEL: ("#7fb4d0", "#3d86ad", "#14648c"),
}


# Of a row on a host, one way: microseconds, None where not measured.
Statistic = Callable[[Timings, Row, str, str], "float | None"]


def draw(
    timings: Timings,
    versions: dict[str, str],
    nodes: int,
    value: Statistic,
    where: str,
    path: Path,
) -> None:
    """Writes `path` (PNG) and its SVG: one panel per kind of window and size."""
    rows = [row for row in timings.rows() if row.has_window]
    panels: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        panels.setdefault((row.window, row.size), []).append(row)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(panels), 1, figsize=(11, 3.1 * len(panels) + 1), layout="constrained", squeeze=False
        )
        for axes, ((window, size), members) in zip(grid[:, 0], panels.items()):
            handles, labels = _bars(axes, timings, members, versions, value)
            axes.set_title(f"{window} window, {size_text(size)}", loc="left", fontsize=10)
        ranks = drawing.ranks_on(2, nodes)
        drawing.title(figure, f"Time of one round, {ranks} (µs, logarithmic)")
        drawing.legend(figure, handles, labels, 3, where)
        drawing.save(figure, path)


def _time_text(us: float) -> str:
    return f"{us:.2g}" if us < 100 else f"{us:.0f}"


def _bars(
    axes: Axes, timings: Timings, rows: list[Row], versions: dict[str, str], value: Statistic
) -> tuple[list, list[str]]:
    hosts = timings.hosts()
    kinds = [(way, host) for way in (HOST, ORIEL) for host in hosts]
    width = 0.84 / len(kinds)
    handles, labels = [], []
    for index, (way, host) in enumerate(kinds):
        points = [
            (column - 0.42 + (index + 0.5) * width, value(timings, row, host, way))
            for column, row in enumerate(rows)
        ]
        points = [(place, time) for place, time in points if time]
        if not points:
            continue
        places, times = zip(*points)
        colour = COLOURS[way][hosts.index(host) % len(COLOURS[way])]
        handles.append(axes.bar(places, times, width * 0.92, color=colour))
        labels.append(versions[host] if way == HOST else f"Oriel on {versions[host]}")
        drawing.label_bars(axes, ((place, time, _time_text(time)) for place, time in points))
    axes.set_yscale("log")
    axes.margins(y=0.15)
    axes.set_xticks(
        range(len(rows)),
        [TITLES.get(row.name, row.name).replace(", ", ",\n") for row in rows],
        fontsize=8,
    )
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles, labels
