# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench notify`: notified access against messages and the other one-sided calls."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from rich.console import Console

from oriel.bench import notify_times, outcome
from oriel.bench.notify_times import (
    BUSY_WAIT,
    EPOCH_KINDS,
    EPOCHS,
    GET,
    MESSAGES,
    NOTIFIED,
    OVERLAP,
    PUT,
    NotifyTimes,
    Row,
    nonblocking,
)
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text

OWN = {"linewidth": 1.4, "markersize": 4}
OURS = {"linewidth": 1.2, "linestyle": DASHES, "markersize": 3.5}
NOTIFYING = {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 2.4, "markersize": 5}

# Of each line, by kind and way: its label and its style.
Lines = dict[tuple[str, str], tuple[str, dict]]
LINES: Lines = {
    (MESSAGES, HOST): ("messages, own", {**OWN, "color": COLOURS["blocking"], "marker": "s"}),
    ("fence", HOST): ("fence, own", {**OWN, "color": COLOURS["host"], "marker": "^"}),
    ("pscw", HOST): ("start, complete, own", {**OWN, "color": MUTED, "marker": "v"}),
    ("flag", HOST): ("flush and flag, own", {**OWN, "color": "#8f7fb8", "marker": "D"}),
    ("counter", HOST): ("Intel's counters", {**OWN, "color": "#5f9e6e", "marker": "P"}),
    ("fence", ORIEL): ("fence, Oriel", {**OURS, "color": COLOURS["host"], "marker": "^"}),
    ("pscw", ORIEL): ("start, complete, Oriel", {**OURS, "color": MUTED, "marker": "v"}),
    ("counter", ORIEL): ("counters, Oriel", {**OURS, "color": "#5f9e6e", "marker": "P"}),
    (BUSY_WAIT, ORIEL): ("busy wait, Oriel", {"color": INK, "linewidth": 1}),
}


def _with(notified: str) -> Lines:
    """The kind that is drawn most clearly goes last."""
    return {**LINES, (notified, ORIEL): (f"{notified}, Oriel", NOTIFYING)}


def _of_epoch(kind: str) -> Lines:
    blocking = {**OWN, "color": COLOURS["blocking"], "marker": "s"}
    return {
        (kind, HOST): ("blocking, own", {**OWN, "color": MUTED, "marker": "^"}),
        (kind, ORIEL): ("blocking, Oriel", blocking),
        (nonblocking(kind), ORIEL): ("nonblocking, Oriel", NOTIFYING),
    }


@dataclass(frozen=True)
class Figure:
    """What is drawn of a measure: the value of a kind at a size on a host one way."""

    name: str
    measure: str
    rows: dict[str, Lines]  # of panels, by the text beside them
    title: str
    value: Callable[[NotifyTimes, str, int, str, str], float | None]
    axis: Callable[[Axes], None]


def _share_axis(axes: Axes) -> None:
    axes.set_ylim(-0.05, 1.05)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _half_round_trip(measure: str) -> Callable[[NotifyTimes, str, int, str, str], float | None]:
    return lambda times, kind, size, host, way: times.median(Row(measure, size), kind, host, way)


def _overlap(measure: str) -> Callable[[NotifyTimes, str, int, str, str], float | None]:
    def hidden(times: NotifyTimes, kind: str, size: int, host: str, way: str) -> float | None:
        """A transfer that takes longer than its latency says hides nothing."""
        share = times.overlap(measure, kind, size, host, way)
        return None if share is None else max(share, 0.0)

    return hidden


FIGURES = (
    Figure(
        "notify_put",
        PUT,
        {"half round trip (µs)": _with(NOTIFIED[PUT])},
        "Data to the other rank, which learns of it",
        _half_round_trip(PUT),
        drawing.logarithmic,
    ),
    Figure(
        "notify_get",
        GET,
        {"half round trip (µs)": _with(NOTIFIED[GET])},
        "Data from the other rank, which learns of it",
        _half_round_trip(GET),
        drawing.logarithmic,
    ),
    Figure(
        "notify_overlap",
        OVERLAP,
        {"share of the latency": _with(NOTIFIED[PUT])},
        "Latency hidden behind computation",
        _overlap(OVERLAP),
        _share_axis,
    ),
    Figure(
        "notify_epochs",
        EPOCHS,
        {f"{name}:\nshare of the epoch": _of_epoch(kind) for kind, name in EPOCH_KINDS.items()},
        "Epochs hidden behind computation",
        _overlap(EPOCHS),
        _share_axis,
    ),
)


def _draw_all(times: NotifyTimes, versions: dict[str, str], nodes: int, where: str, folder: Path):
    """After Figures 3 and 4a of the paper: round trips by put and by get, and overlap, over the
    size; a panel per host. And overlap by kind of epoch, after section VIII-A of "Nonblocking
    epochs in MPI one-sided communication"."""
    for figure in FIGURES:
        _draw(figure, times, versions, nodes, where, folder / f"{figure.name}.png")


def _draw(
    what: Figure,
    times: NotifyTimes,
    versions: dict[str, str],
    nodes: int,
    where: str,
    path: Path,
) -> None:
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(what.rows),
            len(hosts),
            figsize=(max(9.0, 3.8 * len(hosts) + 1.6), 2.8 * len(what.rows) + 2.4),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for (text, lines), row in zip(what.rows.items(), grid):
            row[0].set_ylabel(text, fontsize=9)
            for host, axes in zip(hosts, row):
                handles |= _lines(axes, what, lines, times, host)
        for host, top, bottom in zip(hosts, grid[0], grid[-1]):
            top.set_title(versions[host], loc="left", fontsize=10)
            bottom.set_xlabel("size", fontsize=9)
        drawing.title(figure, f"{what.title}, {drawing.ranks_on(2, nodes)}")
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _lines(
    axes: Axes, what: Figure, lines: Lines, times: NotifyTimes, host: str
) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    sizes = times.sizes(what.measure)
    handles = {}
    for (kind, way), (label, style) in lines.items():
        points = [(size, what.value(times, kind, size, host, way)) for size in sizes]
        points = [(size, value) for size, value in points if value is not None]
        if points:
            (handles[label],) = axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    what.axis(axes)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=7, rotation=45)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    axes.minorticks_off()
    return handles


RANKS = 2
TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50", "--most", "1000")
QUICK_SIZES = ("--bytes", "8", "--bytes", "65536")
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3


def _print_tables(times: NotifyTimes, versions: dict[str, str], nodes: int, console: Console):
    for measure in (PUT, GET):
        for host in times.hosts():
            console.print(notify_times.round_trips(times, measure, host, versions[host]))
    for table in (
        notify_times.overlap(times, versions),
        notify_times.epochs(times, versions),
        notify_times.costs(times, versions),
        notify_times.matching(times, versions),
        notify_times.goals(times, versions, between_nodes=nodes > 1),
    ):
        if table.row_count:
            console.print(table)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "notify")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    times = NotifyTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        options = (*QUICK_OPTIONS, *QUICK_SIZES) if arguments.quick else ()
        return [str(own_program(host, "notify")), *options]

    played = 0
    failures: list[str] = []
    while not failures and played < MOST_ROUNDS * rounds:
        failures = play(setting.hosts, rounds, RANKS, program, times.read, TIMEOUT_S, nodes)
        played += rounds
        if arguments.quick or nodes or times.enough(rounds):
            break
    _print_tables(times, versions, arguments.hosts, console)
    notes = notify_times.told_misses(times, versions)
    if not nodes:
        notes.append(times.told_distances())
    place = setting.place(f"rounds: {played}")
    results = setting.results(
        times.as_json(),
        rounds=played,
        misses=times.misses,
        uncounted=times.uncounted,
    )

    def draw(where: str, path: Path) -> None:
        _draw_all(times, versions, arguments.hosts, where, path.parent)

    path = arguments.output / "notify.png"
    figures = [f"{figure.name}.png" for figure in FIGURES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
