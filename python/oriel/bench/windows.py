# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench windows`: put and flush by kind of window, and what making the window costs."""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, MUTED, STYLE, plt
from oriel.report.units import size_text, time_text

PUT = "put"
MAKING = "making"

ALLOCATED = "allocated"
# Windows whose puts are compared, the former's time against the latter's. The first is the paper's
# comparison: on one node of private memory with mapped memory. The others are of equal memory.
COMPARISONS = (
    ("dynamic", ALLOCATED),
    ("dynamic-alloc", ALLOCATED),
    ("handle-alloc", ALLOCATED),
    ("handle", "created"),
)

# What short puts took on dynamic windows against allocated ones in "Quo vadis MPI RMA?", 4.1.1.
PAPER = {"MPICH and MVAPICH": 1.5, "Open MPI": 3.0}

Key = tuple[str, str, int, str, str]  # measure, window, size or other windows, host, way


@dataclass
class WindowTimes:
    """Microseconds: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            column = line["bytes"] if line["measure"] == PUT else line["others"]
            self.runs[line["measure"], line["window"], column, host, way].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for *_, host, _ in self.runs))

    def windows(self, measure: str) -> list[str]:
        return list(dict.fromkeys(window for what, window, *_ in self.runs if what == measure))

    def columns(self, measure: str) -> list[int]:
        """Sizes of puts, or numbers of other windows."""
        return sorted({column for what, _, column, *_ in self.runs if what == measure})

    def median(self, measure: str, window: str, column: int, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((measure, window, column, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def penalty(
        self, window: str, size: int, host: str, way: str, other: str = ALLOCATED
    ) -> float | None:
        """A put's time against that on another window, of the same host and way."""
        time = self.median(PUT, window, size, host, way)
        others = self.median(PUT, other, size, host, way)
        return time / others if time and others else None

    def as_json(self) -> list[dict]:
        return [
            {
                "measure": measure,
                "window": window,
                "bytes" if measure == PUT else "others": column,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(measure, window, column, host, way),
                **({"penalty": self.penalty(window, column, host, way)} if measure == PUT else {}),
                "runs": runs,
            }
            for (measure, window, column, host, way), runs in self.runs.items()
        ]


KINDS = {
    "allocated": {"color": COLOURS["nonblocking"], "marker": "o"},
    "created": {"color": MUTED, "marker": "v"},
    "created-alloc": {"color": "#5f9e6e", "marker": "^"},
    "dynamic": {"color": COLOURS["blocking"], "marker": "s"},
    "dynamic-alloc": {"color": "#8f7fb8", "marker": "D"},
    "duplicate": {"color": "#5aa6a6", "marker": "X"},
    "handle": {"color": "#a3785a", "marker": "<"},
    "handle-alloc": {"color": "#c75d8a", "marker": ">"},
    "handle-alloc-new": {"color": "#9aa64a", "marker": "*"},
}
OTHER_KIND = {"color": "#b05454", "marker": "P"}
LINES = {
    HOST: {"linestyle": DASHES, "linewidth": 1.2, "markersize": 4, "markerfacecolor": "white"},
    ORIEL: {"linewidth": 1.8, "markersize": 4},
}


def _draw(
    times: WindowTimes,
    versions: dict[str, str],
    ranks: tuple[int, int],
    caption: str,
    path: Path,
) -> None:
    """After Figures 4 and 12 of the paper: put and flush over the size, a line for each kind of
    window, a panel for each host. `ranks` on how many nodes."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1,
            len(hosts),
            figsize=(max(9.0, 3.8 * len(hosts) + 1.6), 5.6),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, axes in zip(hosts, grid[0]):
            handles |= _lines(axes, times, host)
            axes.set_title(versions[host], loc="left", fontsize=10)
            axes.set_xlabel("size of a put", fontsize=9)
        grid[0, 0].set_ylabel("time of put and flush (µs)", fontsize=9)
        drawing.title(figure, f"Put by kind of window, {drawing.ranks_on(*ranks)}")
        columns = max(3, len(hosts) + 2)
        drawing.legend(figure, handles.values(), handles.keys(), columns, caption)
        drawing.save(figure, path)


def _lines(axes: Axes, times: WindowTimes, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    sizes = times.columns(PUT)
    handles = {}
    for window in times.windows(PUT):
        for way in WAYS:
            points = [(size, times.median(PUT, window, size, host, way)) for size in sizes]
            points = [(size, time) for size, time in points if time]
            style = {**KINDS.get(window, OTHER_KIND), **LINES[way]}
            if points:
                label = f"{window}, {WAY_TITLES[way]}"
                (handles[label],) = axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=7, rotation=45)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles


TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50", "--others", "3")
QUICK_SIZES = ("--bytes", "1", "--bytes", "4096", "--bytes", "1048576")
MAKING_TITLES = {
    "allocated": "MPI_Win_allocate, free",
    "created": "MPI_Win_create, free; memory from malloc",
    "created-alloc": "MPI_Win_create, free; from MPI_Alloc_mem",
    "dynamic": "create_dynamic, attach, detach, free; malloc",
    "dynamic-alloc": "the same, MPI_Alloc_mem",
    "duplicate": "MPI_Win_allocate, dup_with_info, free both",
    "handle": "create_dynamic, handle, its window, free all; malloc",
    "handle-alloc": "the same, MPI_Alloc_mem",
    "attach": "detach, attach; malloc",
    "attach-alloc": "detach, attach; MPI_Alloc_mem",
    "duplicate-renewed": "free, dup_with_info",
    "handle-renewed": "memhandle release, create; malloc",
    "handle-renewed-alloc": "memhandle release, create; MPI_Alloc_mem",
    "handle-window": "free, from_memhandle; malloc",
    "handle-window-alloc": "free, from_memhandle; MPI_Alloc_mem",
}


def _ratio(value: float | None) -> str:
    return ratio_text(value) if value is None or value < 100 else f"{value:,.0f}"


def _puts(times: WindowTimes, host: str, title: str) -> Table:
    table = Table(title=f"{title}: put and flush, µs", title_justify="left")
    table.add_column("Window", no_wrap=True)
    table.add_column("")
    sizes = times.columns(PUT)
    for size in sizes:
        table.add_column(size_text(size), justify="right", no_wrap=True)
    windows = times.windows(PUT)
    for window in windows:
        for way in WAYS:
            cells = [time_text(times.median(PUT, window, size, host, way)) for size in sizes]
            table.add_row(window if way == WAYS[0] else "", WAY_TITLES[way], *cells)
    table.add_section()
    for window, other in COMPARISONS:
        for way, what in zip(WAYS, (window, f"/ {other}")):
            cells = [_ratio(times.penalty(window, size, host, way, other)) for size in sizes]
            table.add_row(what, WAY_TITLES[way], *cells)
    return table


def _making(times: WindowTimes, versions: dict[str, str]) -> Table:
    title = "making a window, and freeing it: µs, slowest rank; local calls of Oriel's, one rank"
    table = Table(title=title, title_justify="left")
    table.add_column("MPI")
    table.add_column("What")
    crowds = times.columns(MAKING)
    for way in WAYS:
        for others in crowds:
            beside = f"beside {others}" if others else "alone"
            table.add_column(f"{WAY_TITLES[way]},\n{beside}", justify="right")
    for host in times.hosts():
        for index, window in enumerate(times.windows(MAKING)):
            cells = [
                time_text(times.median(MAKING, window, others, host, way))
                for way in WAYS
                for others in crowds
            ]
            mpi = "" if index else versions[host]
            table.add_row(mpi, MAKING_TITLES.get(window, window), *cells)
        table.add_section()
    return table


def _papers_ratios() -> str:
    ratios = ", ".join(f"{ratio:g} times on {mpi}" for mpi, ratio in PAPER.items())
    return f"in the paper (4.1.1) a short put on a dynamic window takes {ratios}"


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "windows")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    times = WindowTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        own = ("--others", str(arguments.others))
        words = (*QUICK_OPTIONS, *QUICK_SIZES) if arguments.quick else own
        return [str(own_program(host, "windows")), *words]

    failures = play(
        setting.hosts, rounds, arguments.n, program, times.read, TIMEOUT_S, nodes, WITHOUT_UCX
    )
    for host in times.hosts():
        console.print(_puts(times, host, versions[host]))
    console.print(_making(times, versions))
    console.print(
        "dynamic / allocated: a put's time on a dynamic window against that on an allocated one; "
        f"{_papers_ratios()} as long. alloc: memory from MPI_Alloc_mem; new: a window is made and "
        "freed for each put. Windows of 4 KB are made, alone or beside so many others. Only Oriel "
        "has duplicates and memory handles.",
        highlight=False,
    )
    place = setting.place(f"{arguments.n} ranks, rounds: {rounds}")
    results = setting.results(times.as_json(), ranks=arguments.n, rounds=rounds, paper=PAPER)

    def draw(where: str, path: Path) -> None:
        ranks = (arguments.n, arguments.hosts)
        caption = f"Against an allocated one, {_papers_ratios()} as long. {where}"
        _draw(times, versions, ranks, caption, path)

    path = arguments.output / "windows.png"
    notes = setting.crowded(arguments.n)
    return outcome.report(console, notes, failures, place, results, path, draw)
