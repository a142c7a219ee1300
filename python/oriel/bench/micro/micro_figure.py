# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench micro`: every row's ratio to the best host as a coloured cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize

from oriel.bench.micro.micro_times import WINDOWS, Row, Timings, title_of
from oriel.hosts.mpi_kinds import kind_of
from oriel.report import drawing
from oriel.report.drawing import INK, MUTED, STYLE, plt
from oriel.report.units import size_text

# Ours in blue where it takes less time, in orange where it takes more; equal is nearly white.
SCALE = LinearSegmentedColormap.from_list("ratio", ["#14648c", "#f7f7f5", "#d9822b"])
MOST = 4.0  # a ratio, or its inverse, at which the colour is full
FEW = 8  # rows below which the panels are one below the other

# Of a row on a host, one way: microseconds, None where not measured.
Statistic = Callable[[Timings, Row, str, str], "float | None"]


def _tint(ratio: float) -> tuple:
    return SCALE(Normalize(-1, 1)(max(-1.0, min(1.0, math.log(ratio, MOST)))))


def _panel(
    axes: Axes,
    timings: Timings,
    row_set: str,
    names: list[str],
    window: str,
    sizes: list[int],
    value: Statistic,
) -> None:
    """Rows by name, columns by size and host: our ratio, and where it is not as promised, a
    frame."""
    hosts = timings.hosts()
    columns = [(size, host) for size in sizes for host in hosts]
    for line, name in enumerate(names):
        for column, (size, host) in enumerate(columns):
            row = Row(row_set, name, window, size)
            ratio = timings.ratio(row, host, value)
            if ratio is None:
                continue
            missed = ratio > timings.limit(row)
            edge = INK if missed else "white"
            axes.add_patch(
                plt.Rectangle(
                    (column + 0.04, line + 0.06),
                    0.92,
                    0.88,
                    facecolor=_tint(ratio),
                    edgecolor=edge,
                    linewidth=1.1 if missed else 0.4,
                )
            )
            dark = abs(math.log(ratio, MOST)) > 0.75
            axes.text(
                column + 0.5,
                line + 0.52,
                f"{ratio:.2f}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if dark else INK,
            )
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(names), 0)
    axes.set_xticks(
        [column + 0.5 for column in range(len(columns))],
        [kind_of(host).title for _, host in columns],
        fontsize=7,
        rotation=40,
        ha="right",
        rotation_mode="anchor",
    )
    for place, size in enumerate(sizes):
        axes.text(
            (place + 0.5) * len(hosts), -0.25, size_text(size), ha="center", fontsize=8, color=MUTED
        )
    axes.set_title(f"{window} windows", loc="left", fontsize=10, pad=18)
    axes.tick_params(axis="both", length=0)
    axes.spines["bottom"].set_visible(False)


def draw(
    timings: Timings, row_set: str, subject: str | None, value: Statistic, where: str, path: Path
) -> None:
    """Writes `path` (PNG) and its SVG of one set of rows: a panel for each kind of window."""
    drawn = [row for row in timings.rows() if row.set == row_set]
    names = list(dict.fromkeys(row.name for row in drawn))
    sizes = {
        window: sorted({row.size for row in drawn if row.window == window})
        for window in WINDOWS
        if any(row.window == window for row in drawn)
    }
    widths = [len(timings.hosts()) * len(each) for each in sizes.values()]
    stacked = len(names) < FEW
    lines = len(sizes) if stacked else 1
    width = max(widths) if stacked else sum(widths)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            lines,
            len(sizes) // lines,
            figsize=(max(5.4, 3.4 + 0.44 * width), 1.0 + lines * (0.9 + 0.24 * len(names))),
            width_ratios=None if stacked else widths,
            layout="constrained",
            squeeze=False,
        )
        for place, (axes, window) in enumerate(zip(grid.flat, sizes)):
            _panel(axes, timings, row_set, names, window, sizes[window], value)
            labels = [title_of(name) for name in names] if stacked or place == 0 else []
            axes.set_yticks([line + 0.5 for line in range(len(labels))], labels, fontsize=8)
            axes.yaxis.set_tick_params(labelcolor=INK)
        title = "Oriel's time against the best MPI library's own"
        drawing.title(figure, f"{title}:\n{subject}" if subject else title)
        bar = figure.colorbar(
            ScalarMappable(Normalize(-1, 1), SCALE),
            ax=grid,
            shrink=0.9 if stacked else 0.5,
            aspect=18,
            pad=0.01,
        )
        bar.ax.tick_params(labelsize=7)
        bar.set_ticks([-1, -0.5, 0, 0.5, 1], labels=["0.25", "0.5", "1", "2", "4"])
        bar.outline.set_visible(False)
        framed = plt.Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=INK)
        drawing.legend(figure, [framed], ["more than promised"], 1, where)
        drawing.save(figure, path)
