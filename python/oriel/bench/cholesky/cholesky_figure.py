# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench cholesky`, after Figure 5 of the paper: the speed of a factorization
whose matrix grows with the number of ranks."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.cholesky.cholesky_times import MESSAGES, NOTIFY, ONE_SIDED, PAPER, CholeskyTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, MUTED, STYLE, plt

BARS = {
    (MESSAGES, HOST): (COLOURS["host"], "messages, the host's own"),
    (MESSAGES, ORIEL): ("#87949f", "messages, with Oriel"),
    (ONE_SIDED, HOST): ("#f0cf9a", "one-sided, the host's own"),
    (ONE_SIDED, ORIEL): (COLOURS["blocking"], "one-sided, with Oriel"),
    (NOTIFY, ORIEL): (COLOURS["nonblocking"], "notify, with Oriel"),
}

_LEAST_WIDTH = 9  # of title and legend


def draw(times: CholeskyTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a panel per host."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1,
            len(hosts),
            figsize=(max(_LEAST_WIDTH, (1.4 * len(times.ranks()) + 1.2) * len(hosts) + 3), 4.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, axes in zip(hosts, grid[0]):
            handles |= _bars(axes, times, host)
            axes.set_title(versions[host], loc="left", fontsize=10)
            axes.set_xlabel("ranks", fontsize=9)
        grid[0, 0].set_ylabel("GFLOP/s, all ranks", fontsize=9)
        drawing.title(figure, "Cholesky factorization: speed (above: times the host's messages)")
        drawing.legend(figure, handles.values(), handles.keys(), 3, where)
        drawing.save(figure, path)


def _bars(axes: Axes, times: CholeskyTimes, host: str) -> dict[str, object]:
    """Draws one host's bars; returns them by their labels."""
    width = 0.84 / len(BARS)
    handles = {}
    for index, ((variant, way), (colour, label)) in enumerate(BARS.items()):
        points = [
            (
                group - 0.42 + (index + 0.5) * width,
                times.speed(variant, ranks, host, way),
                times.ratio(variant, ranks, host, way),
            )
            for group, ranks in enumerate(times.ranks())
        ]
        points = [point for point in points if point[1] and point[2]]
        handles[label] = axes.bar(
            [x for x, _, _ in points], [speed for _, speed, _ in points], width * 0.92, color=colour
        )
        drawing.label_bars(axes, ((x, speed, f"{ratio:.2f}") for x, speed, ratio in points))
    for group, ranks in enumerate(times.ranks()):
        messages = times.speed(MESSAGES, ranks, host, HOST)
        if messages:
            label = f"{PAPER[NOTIFY]} times the messages: the paper's"
            (handles[label],) = axes.plot(
                [group - 0.42, group + 0.42],
                [PAPER[NOTIFY] * messages] * 2,
                color=MUTED,
                linewidth=1,
                linestyle=":",
            )
    axes.margins(y=0.1)
    axes.set_xticks(range(len(times.ranks())), [str(ranks) for ranks in times.ranks()], fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
