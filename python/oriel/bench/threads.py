# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench threads`: put and flush by the threads of a rank, by scope and order of a window."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from rich.console import Console

from oriel.bench import outcome, threads_times
from oriel.bench.ratio_table import WAY_TITLES
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.threads_times import (
    ALL_HINTS,
    PAPER,
    PAPER_THREADS,
    PLAIN,
    PUTS,
    ROW,
    Case,
    Hints,
    ThreadTimes,
)
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, MUTED, STYLE, plt
from oriel.report.units import size_text

NAMES = ("threads", "threads_size", "threads_row")

STYLES = {
    HOST: {"color": MUTED, "linewidth": 1.4, "markersize": 4},
    ORIEL: {"color": COLOURS["nonblocking"], "linewidth": 2, "markersize": 5},
}
HINT_STYLES = {
    "process": {"marker": "o"},
    "thread": {"marker": "s", "markerfacecolor": "white"},
}


@dataclass(frozen=True)
class Line:
    label: str
    hints: Hints
    way: str
    style: dict
    case: Callable[[int], Case]  # of a place on the horizontal axis


@dataclass(frozen=True)
class Panels:
    """A row of panels, one for each host."""

    title: str
    places: Sequence[int]
    place_text: Callable[[int], str]
    horizontal: str
    lines: Sequence[Line]


def _line(hints: Hints, way: str, case: Callable[[int], Case]) -> Line:
    style = {**STYLES[way], **HINT_STYLES[hints.scope]}
    if hints.order:
        style["linestyle"] = DASHES
    return Line(f"{WAY_TITLES[way]}, {hints.title}", hints, way, style, case)


def _lines(hints: Iterable[Hints], case: Callable[[int], Case]) -> list[Line]:
    return [_line(each, way, case) for way in WAYS for each in hints]


def _over_threads(times: ThreadTimes) -> Panels:
    lines = _lines(ALL_HINTS[:2], lambda threads: Case(PUTS, threads, 1))
    return Panels("", times.threads(PUTS), str, "threads", lines)


def _over_size(times: ThreadTimes, threads: int) -> Panels:
    title = "one thread" if threads == 1 else f"{threads} threads"
    lines = _lines(ALL_HINTS, lambda size: Case(PUTS, threads, size))
    return Panels(f", {title}", times.sizes(), size_text, "size of a put", lines)


def _in_a_row(times: ThreadTimes) -> Panels:
    lines = []
    for way in WAYS:
        each = Line(
            f"{WAY_TITLES[way]}, a flush for each",
            PLAIN,
            way,
            {**STYLES[way], "marker": "o"},
            lambda size: Case(PUTS, 1, size),
        )
        last = [
            Line(
                f"{WAY_TITLES[way]}, one flush{', ordered' if hints.order else ''}",
                hints,
                way,
                {**STYLES[way], "marker": marker, "linestyle": DASHES, "markerfacecolor": "white"},
                lambda size: Case(ROW, 1, size),
            )
            for hints, marker in ((PLAIN, "s"), (Hints("process", order=True), "^"))
        ]
        lines += [each, *last]
    return Panels("", times.sizes(), size_text, "size of a put", lines)


def _draw_all(times: ThreadTimes, versions: dict[str, str], nodes: int, where: str, folder: Path):
    """After Figures 8 to 11 of the paper: over the number of threads, over the size, and with
    one flush for many puts; a panel per host."""
    ranks = drawing.ranks_on(2, nodes)
    extremes = sorted({1, max(times.threads(PUTS))})
    figures = (
        ("Put and flush of 1 B by each thread of a rank", [_over_threads(times)]),
        ("Put and flush by each thread of a rank", [_over_size(times, n) for n in extremes]),
        ("Puts of one thread, flushed one by one or 64 at once", [_in_a_row(times)]),
    )
    for name, (title, rows) in zip(NAMES, figures):
        path = folder / f"{name}.png"
        _draw(times, versions, rows, f"{title}, {ranks}", where, path)


def _draw(
    times: ThreadTimes,
    versions: dict[str, str],
    rows: Sequence[Panels],
    title: str,
    where: str,
    path: Path,
) -> None:
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(rows),
            len(hosts),
            figsize=(max(9.0, 3.4 * len(hosts) + 1.4), 3.4 * len(rows) + 1.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for panels, row in zip(rows, grid):
            for host, axes in zip(hosts, row):
                handles |= _panel(axes, times, panels, host)
                axes.set_title(f"{versions[host]}{panels.title}", loc="left", fontsize=10)
            row[0].set_ylabel("time of a put (µs)", fontsize=9)
        drawing.title(figure, title)
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _panel(axes: Axes, times: ThreadTimes, panels: Panels, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    for line in panels.lines:
        points = [
            (place, times.median(line.case(place), line.hints, host, line.way))
            for place in panels.places
        ]
        points = [(place, time) for place, time in points if time]
        if points:
            (handles[line.label],) = axes.plot(*zip(*points), **line.style)
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    texts = [panels.place_text(place) for place in panels.places]
    axes.set_xticks(panels.places, texts, fontsize=7)
    axes.set_xlabel(panels.horizontal, fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles


RANKS = 2
TIMEOUT_S = 300
LONG = "256 KB"  # what threads put that disturb another one
QUICK_OPTIONS = ("--samples", "2", "--turn-ms", "1", "--bytes", "1", "--bytes", "4096")
QUICK_THREADS = 4


def _paper() -> str:
    factors = " and ".join(f"a {share} of {whose}" for whose, share in PAPER.items())
    return (
        f"In the paper (7.1) short puts by {PAPER_THREADS} threads take Open MPI with thread scope "
        f"{factors}"
    )


def _gains(times: ThreadTimes, versions: dict[str, str], threads: int) -> list[str]:
    """What thread scope and order gain for the most threads, where they are in effect."""
    most = Case(PUTS, threads, 1)
    sentences = []
    for hints in ALL_HINTS:
        for host in times.hosts():
            for way in WAYS:
                gain = None if hints.asks_nothing else times.against_plain(most, hints, host, way)
                if gain:
                    where = f"{versions[host]}, {WAY_TITLES[way]}, {hints.title}"
                    sentences.append(
                        f"{where}: 1 B by {threads} threads is {gain:.2f} times as fast as without."
                    )
    return sentences


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "threads")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    most = min(arguments.threads, QUICK_THREADS) if arguments.quick else arguments.threads
    times = ThreadTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        words = QUICK_OPTIONS if arguments.quick else ()
        return [str(own_program(host, "threads")), "--threads", str(most), *words]

    failures = play(setting.hosts, rounds, RANKS, program, times.read, TIMEOUT_S, nodes)
    console.print(threads_times.by_threads(times, versions))
    for threads in sorted({1, most}):
        console.print(threads_times.by_size(times, versions, threads))
    console.print(threads_times.in_a_row(times, versions))
    if most > 1:
        console.print(threads_times.beside(times, versions, LONG))
    console.print(
        "thread scope: mpi_win_scope=thread; ordered: mpi_win_order=true; not supported: the "
        f"window's info says that it is not in effect. {_paper()}.",
        highlight=False,
    )
    cores = setting.machine["cores"]
    notes = _gains(times, versions, most)
    if most + 1 > cores:
        notes.append(
            f"Up to {most} threads and the target share {cores} cores: the times include waits for "
            "a core."
        )
    place = setting.place(f"rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        rounds=rounds,
        hints=times.hints_as_json(),
        paper={"threads": PAPER_THREADS, "share": PAPER},
    )

    def draw(where: str, path: Path) -> None:
        caption = f"{_paper()}. {where}"
        _draw_all(times, versions, arguments.hosts, caption, path.parent)

    path = arguments.output / "threads.png"
    figures = [f"{name}.png" for name in NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
