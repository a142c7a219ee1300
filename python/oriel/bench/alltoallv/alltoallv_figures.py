# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `oriel bench alltoallv`, after Figures 2 and 1 of the paper: the time of an
exchange over the size, and over the number of ranks; a panel per host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oriel.bench.alltoallv.alltoallv_scaling import bytes_to_each
from oriel.bench.alltoallv.alltoallv_times import (
    ALGORITHM_TITLES,
    HOST_TITLES,
    TITLES,
    AlltoallvTimes,
)
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text

NAMES = ("alltoallv", "alltoallv_scaling")

_HIERARCHY = {"linestyle": DASHES, "markerfacecolor": "white"}
STYLES = {
    "alltoallv": {"color": INK, "marker": "o", "linewidth": 2},
    "ialltoallv": {"color": MUTED, "marker": "v"},
    "alltoallv_init": {"color": MUTED, "marker": "^", "linestyle": DASHES},
    "auto": {"color": COLOURS["nonblocking"], "linewidth": 6, "alpha": 0.25},
    "notified": {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 2},
    "notified_hierarchy": {"color": COLOURS["nonblocking"], "marker": "o", **_HIERARCHY},
    "fence": {"color": COLOURS["blocking"], "marker": "s"},
    "fence_hierarchy": {"color": COLOURS["blocking"], "marker": "s", **_HIERARCHY},
    "lock": {"color": "#5f9e6e", "marker": "D"},
    "lock_hierarchy": {"color": "#5f9e6e", "marker": "D", **_HIERARCHY},
    "two_sided": {"color": "#8f7fb8", "marker": "X"},
}
WAYS = {HOST: HOST_TITLES, ORIEL: ALGORITHM_TITLES}
NAMES_OF_WAYS = {HOST: "MPI_", ORIEL: "Oriel: "}

# The times of one variant on one host one way: (place on the horizontal axis, microseconds).
Points = list[tuple[int, float]]
PointsOf = Callable[[str, str, str], Points]  # variant, host, way


def label(variant: str, way: str) -> str:
    return NAMES_OF_WAYS[way] + TITLES[variant].replace("\n", "_" if way == HOST else ", ")


def draw(
    by_ranks: dict[int, AlltoallvTimes],
    totals: Sequence[int],
    versions: dict[str, str],
    nodes: int,
    where: str,
    folder: Path,
) -> None:
    """Writes both figures into the folder (PNG and SVG)."""
    with plt.rc_context(STYLE):
        ranks, times = next(iter(by_ranks.items()))
        title = f"All to all, {drawing.ranks_on(ranks, nodes)}"
        _save(_over_size(times, versions), title, where, folder / f"{NAMES[0]}.png")
        title = f"All to all over the ranks, on {'one node' if nodes == 1 else f'{nodes} nodes'}"
        _save(_over_ranks(by_ranks, totals, versions), title, where, folder / f"{NAMES[1]}.png")


def _save(drawn: tuple[Figure, dict[str, object]], title: str, where: str, path: Path) -> None:
    figure, handles = drawn
    drawing.title(figure, title)
    drawing.legend(figure, handles.values(), handles.keys(), 5, where)
    drawing.save(figure, path)


def _over_size(times: AlltoallvTimes, versions: dict[str, str]) -> tuple[Figure, dict[str, object]]:
    """The figure, and its lines by their labels."""
    sizes = times.cases()

    def points(variant: str, host: str, way: str) -> Points:
        return _measured((size, times.median(variant, size, host, way)) for size in sizes)

    figure, grid = _panels(1, len(times.hosts()))
    handles: dict[str, object] = {}
    for host, axes in zip(times.hosts(), grid[0]):
        handles |= _lines(axes, points, host)
        _axes(axes, sizes, [size_text(size) for size in sizes], 45)
        axes.set_title(versions[host], loc="left", fontsize=10)
        axes.set_xlabel("from each rank to each", fontsize=9)
    grid[0, 0].set_ylabel("time of an exchange (µs)", fontsize=9)
    return figure, handles


def _over_ranks(
    by_ranks: dict[int, AlltoallvTimes], totals: Sequence[int], versions: dict[str, str]
) -> tuple[Figure, dict[str, object]]:
    """The same; weak scaling for the smallest and the largest size that all numbers of ranks have
    exchanged, and strong scaling for the totals."""
    all_times = list(by_ranks.values())
    hosts = all_times[0].hosts()
    common = set.intersection(*(set(times.cases()) for times in all_times))
    # By the text beside it, the size of each number of ranks.
    rows = {
        f"weak: {size_text(size)} to each\ntime (µs)": dict.fromkeys(by_ranks, size)
        for size in (min(common), max(common))
    }
    for total in totals:
        sizes = {ranks: bytes_to_each(total, ranks) for ranks in by_ranks}
        rows[f"strong: {size_text(total)} in all\ntime (µs)"] = sizes
    figure, grid = _panels(len(rows), len(hosts))
    handles: dict[str, object] = {}
    for (text, sizes), row in zip(rows.items(), grid):

        def points(variant: str, host: str, way: str, sizes: dict[int, int] = sizes) -> Points:
            return _measured(
                (ranks, times.median(variant, sizes[ranks], host, way))
                for ranks, times in by_ranks.items()
            )

        for host, axes in zip(hosts, row):
            handles |= _lines(axes, points, host)
            _axes(axes, list(by_ranks), [str(ranks) for ranks in by_ranks], 0)
        row[0].set_ylabel(text, fontsize=9)
    for host, top, bottom in zip(hosts, grid[0], grid[-1]):
        top.set_title(versions[host], loc="left", fontsize=10)
        bottom.set_xlabel("ranks", fontsize=9)
    return figure, handles


def _measured(points: Iterable[tuple[int, float | None]]) -> Points:
    return sorted((place, time) for place, time in points if time)


def _panels(rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    return plt.subplots(
        rows,
        columns,
        figsize=(max(9.0, 3.6 * columns + 1.4), (3.4 if rows == 1 else 2.6) * rows + 2.0),
        layout="constrained",
        squeeze=False,
        sharey="row",
    )


def _axes(axes: Axes, places: Sequence[int], texts: Sequence[str], rotation: int) -> None:
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    axes.set_xticks(places, texts, fontsize=7, rotation=rotation)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)


def _lines(axes: Axes, points_of: PointsOf, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    for way, variants in WAYS.items():
        for variant in variants:
            points = points_of(variant, host, way)
            if points:
                style = {"linewidth": 1.4, "markersize": 4, **STYLES[variant]}
                (handles[label(variant, way)],) = axes.plot(*zip(*points), **style)
    return handles
