# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench alltoallv`: persistent exchanges of all with all, by the algorithms of
ORIEL_Alltoallv_init against the host's own calls; uniform counts, by size and by ranks, with weak
and strong scaling."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console

from oriel.bench import alltoallv_times, lines, measured, outcome, requests
from oriel.bench.alltoallv_times import (
    ALGORITHM_TITLES,
    FENCE,
    HOST_TITLES,
    LOCK,
    NOTIFIED,
    NOTIFIED_HIERARCHY,
    TITLES,
    TWO_SIDED,
    AlltoallvTimes,
    bytes_to_each,
    variants,
)
from oriel.bench.measured import Exchange
from oriel.bench.requests import QUICK_SIZES, TIMEOUT_S, lengths
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.subjects import TOTALS
from oriel.bench.variant_times import rows_by_ranks
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, HostError, own_program
from oriel.hosts.nodes import Nodes
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


def _draw(
    by_ranks: dict[int, AlltoallvTimes],
    totals: Sequence[int],
    versions: dict[str, str],
    nodes: int,
    where: str,
    folder: Path,
) -> None:
    """After Figures 2 and 1 of the paper: the time of an exchange over the size, and over the
    number of ranks; a panel per host."""
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
    for way, names in WAYS.items():
        for variant in names:
            points = points_of(variant, host, way)
            if points:
                style = {"linewidth": 1.4, "markersize": 4, **STYLES[variant]}
                (handles[label(variant, way)],) = axes.plot(*zip(*points), **style)
    return handles


SIZES = [8 * 4**power for power in range(10)]  # to 2 MB
FEW = 3  # every so many-th of them, for all numbers of ranks but the first


def _sizes(arguments: argparse.Namespace, first: bool) -> list[int]:
    if arguments.bytes:
        return arguments.bytes
    if arguments.quick:
        return QUICK_SIZES
    return SIZES if first else SIZES[::FEW]


def _totals(arguments: argparse.Namespace) -> list[int]:
    if arguments.totals or arguments.bytes:
        return arguments.totals or []
    return TOTALS[:1] if arguments.quick else TOTALS


def _found(times: AlltoallvTimes, size: int, host: Host, *variants: str) -> list[float | None]:
    """Of exchanges, then of making their requests."""
    return [
        value(variant, size, host.name, ORIEL)
        for value in (times.median, times.making)
        for variant in variants
    ]


def measured_exchanges(
    by_ranks: dict[int, AlltoallvTimes], hosts: Sequence[Host], nodes: int
) -> list[Exchange]:
    """What auto chooses by: not the host's calls alone, but what would be carried out."""
    processor = measured.read().processor
    exchanges = []
    for ranks, times in by_ranks.items():
        for host in hosts:
            for size in times.cases():
                both = _found(times, size, host, NOTIFIED, TWO_SIDED)
                if None in both:
                    continue
                more = {}
                for variant in (NOTIFIED_HIERARCHY, FENCE, LOCK):
                    # With one node, or a rank on each, nothing is gathered.
                    if variant == NOTIFIED_HIERARCHY and not 1 < nodes < ranks:
                        continue
                    start, making = _found(times, size, host, variant)
                    if start is not None and making is not None:
                        more |= {variant: start, f"{variant}_making": making}
                key = (processor, measured.mpi_name(host), ranks, nodes, size)
                exchanges.append(Exchange(*key, *both, **more))
    return exchanges


def keep_for_auto(
    by_ranks: dict[int, AlltoallvTimes], hosts: Sequence[Host], nodes: int
) -> list[str]:
    """For `auto`. Says so, or why not: the results do not depend on it."""
    try:
        exchanges = measured_exchanges(by_ranks, hosts, nodes)
        return [measured.keep(exchanges)] if exchanges else []
    except HostError as error:
        return [f"The times are not kept for auto: {error}"]


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "alltoallv")
    versions = setting.versions
    rounds, options = lengths(arguments)
    totals = _totals(arguments)
    by_ranks: dict[int, AlltoallvTimes] = {}
    failures: list[str] = []
    for ranks in dict.fromkeys(arguments.ranks):
        sizes = {
            *_sizes(arguments, first=not by_ranks),
            *alltoallv_times.sizes(totals, ranks),
        }
        words = [*options, *(word for size in sorted(sizes) for word in ("--bytes", str(size)))]
        times = by_ranks[ranks] = AlltoallvTimes()

        def program(host: Host, way: str, words: Sequence[str] = words) -> Sequence[str]:
            return [str(own_program(host, "alltoallv")), *variants(way), *words]

        failures += play(
            setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes, WITHOUT_UCX
        )
    rows = lines.by_ranks(by_ranks, size_text)
    strong = alltoallv_times.lines_by_total(totals, by_ranks)
    for host in requests.hosts(rows):
        for table in (alltoallv_times.exchanges, alltoallv_times.making):
            console.print(table(rows, ("Ranks", "Size"), host, versions[host]))
        if strong:
            title = f"{versions[host]}, strong scaling"
            console.print(
                alltoallv_times.exchanges(strong, ("Total", "Ranks", "Size"), host, title)
            )
    console.print(
        f"{alltoallv_times.LEGEND} Each rank sends so much to each, itself included. Total: of "
        "all ranks together.",
        highlight=False,
    )
    notes = [
        *alltoallv_times.notes(rows, versions),
        *alltoallv_times.against_paper(rows, versions),
        *(note for ranks in by_ranks for note in setting.crowded(ranks)),
    ]
    if not arguments.quick and not failures:  # quick times are nothing to go by
        notes += keep_for_auto(by_ranks, setting.hosts, arguments.hosts)
    place = setting.place(f"rounds: {rounds}")
    failed = [
        {"ranks": ranks, **row} for ranks in by_ranks for row in by_ranks[ranks].failures_as_json()
    ]
    results = setting.results(rows_by_ranks(by_ranks), rounds=rounds, totals=totals, failed=failed)

    def draw(where: str, path: Path) -> None:
        _draw(by_ranks, totals, versions, arguments.hosts, where, path.parent)

    path = arguments.output / "alltoallv.png"
    figures = [f"{name}.png" for name in NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
