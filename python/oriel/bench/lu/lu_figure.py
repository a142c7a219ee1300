# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench lu`, after Figure 13 of the paper: for each order of the matrix the
time, and the share of it that ranks spend in MPI calls, against the number of ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.lu.lu_times import BCAST, BLOCKING, EARLY, ISEND, NONBLOCKING, TITLES, LuTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, MUTED, STYLE, plt

HOST_LINE = {"color": MUTED, "linewidth": 1.4, "markersize": 5}
ORIEL_LINE = {"color": COLOURS["blocking"], "linewidth": 1.8, "markersize": 5}
LINES = {
    (ISEND, HOST): HOST_LINE | {"marker": "x", "linestyle": ":"},
    (BCAST, HOST): HOST_LINE | {"marker": "+", "linestyle": ":"},
    (BLOCKING, HOST): HOST_LINE | {"marker": "s"},
    (EARLY, HOST): HOST_LINE | {"marker": "s", "linestyle": DASHES, "markerfacecolor": "white"},
    (BLOCKING, ORIEL): ORIEL_LINE | {"marker": "o"},
    (EARLY, ORIEL): ORIEL_LINE | {"marker": "o", "linestyle": DASHES, "markerfacecolor": "white"},
    (NONBLOCKING, ORIEL): ORIEL_LINE | {"color": COLOURS["nonblocking"], "marker": "o"},
}
WAY_LABELS = {HOST: "the host's own", ORIEL: "with Oriel"}


def draw(times: LuTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a row of panels per host, two panels per order."""
    hosts, orders = times.hosts(), times.orders()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts),
            2 * len(orders),
            figsize=(max(9, 6.4 * len(orders)), 2.9 * len(hosts) + 1.4),
            layout="constrained",
            squeeze=False,
            sharex=True,
        )
        handles: dict[str, object] = {}
        for host, row in zip(hosts, grid):
            for index, order in enumerate(orders):
                time, share = row[2 * index : 2 * index + 2]
                handles |= _lines(time, times, order, host, times.median, 1e-3)
                _lines(share, times, order, host, times.share, 100)
                drawing.logarithmic(time)
                share.set_ylim(0, 100)
                time.set_title(f"{versions[host]}, order {order}", loc="left", fontsize=10)
                time.set_ylabel("time (ms)", fontsize=9)
                share.set_title(f"order {order}: share in MPI calls", loc="left", fontsize=10)
                share.set_ylabel("% of the time", fontsize=9)
        for axes in grid[-1]:
            axes.set_xlabel("ranks", fontsize=9)
        drawing.title(figure, "LU decomposition: time, and the share of it in MPI calls")
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _lines(
    axes: Axes,
    times: LuTimes,
    order: int,
    host: str,
    height: Callable[..., float | None],
    scale: float,
) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    cases = [case for case in times.cases() if case.order == order]
    for (variant, way), style in LINES.items():
        points = [(case.ranks, height(variant, case, host, way)) for case in cases]
        points = [(ranks, scale * value) for ranks, value in points if value is not None]
        (line,) = axes.plot([x for x, _ in points], [y for _, y in points], clip_on=False, **style)
        handles[f"{TITLES[variant]}, {WAY_LABELS[way]}"] = line
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    ranks = [case.ranks for case in cases]
    axes.set_xticks(ranks, [str(number) for number in ranks], fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles
