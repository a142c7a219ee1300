# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench windows`: put and flush by kind of window, and what making the window costs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.ways import WAYS
from oriel.bench.windows import windows_figure
from oriel.bench.windows.windows_times import COMPARISONS, MAKING, PAPER, PUT, WindowTimes
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.units import size_text, time_text

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
        windows_figure.draw(times, versions, ranks, caption, path)

    path = arguments.output / "windows.png"
    notes = setting.crowded(arguments.n)
    return outcome.report(console, notes, failures, place, results, path, draw)
