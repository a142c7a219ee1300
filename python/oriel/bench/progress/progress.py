# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench progress`: put and flush to a target that computes, and to one that waits in MPI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oriel.bench import outcome
from oriel.bench.progress import progress_figure
from oriel.bench.progress.progress_times import TARGETS, ProgressTimes
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

RANKS = 2
# After which the program itself stops putting to one target.
LIMIT_S = 30
QUICK_OPERATIONS = 1000
QUICK_BUSY_MS = 100
MPI_WINDOWS = ("allocated", "created", "dynamic")
WINDOWS = {HOST: MPI_WINDOWS, ORIEL: (*MPI_WINDOWS, "handle")}


def _time(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ratio(times: ProgressTimes, window: str, host: str, way: str) -> Text:
    ratio = times.ratio(window, host, way)
    if ratio is None:
        return Text("–")
    waits = times.waits(window, host, way)
    return Text(f"{ratio:,.2f}{'!' if waits else ' '}", style="red" if waits else "")


def _table(times: ProgressTimes, versions: dict[str, str]) -> Table:
    table = Table(title="put and flush of 8 B: µs per operation", title_justify="left")
    table.add_column("MPI")
    table.add_column("Window")
    for way in ("own", "Oriel"):
        for what in ("idle target", "busy target", "busy / idle", "first, longest"):
            table.add_column(f"{way}\n{what}", justify="right")
    for host in times.hosts():
        for window in times.windows():
            cells: list[str | Text] = []
            for way in WAYS:
                cells += [_time(times.median(window, target, host, way)) for target in TARGETS]
                cells.append(_ratio(times, window, host, way))
                cells.append(_time(times.longest_first(window, host, way)))
            table.add_row(versions[host], window, *cells)
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "progress")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    operations = QUICK_OPERATIONS if arguments.quick else arguments.operations
    busy_ms = QUICK_BUSY_MS if arguments.quick else arguments.busy_ms
    stall_us = 1000 * busy_ms / operations
    times = ProgressTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        windows = [word for window in WINDOWS[way] for word in ("--window", window)]
        numbers = {"--operations": operations, "--busy-ms": busy_ms, "--limit-s": LIMIT_S}
        options = [str(word) for option in numbers.items() for word in option]
        return [str(own_program(host, "progress")), *windows, *options]

    timeout_s = 60 + len(WINDOWS[ORIEL]) * (2 * LIMIT_S + busy_ms / 1000)
    failures = play(setting.hosts, rounds, RANKS, program, times.read, timeout_s, nodes)
    console.print(_table(times, versions))
    console.print(
        f"The busy target computes for {busy_ms / 1000:g} s outside MPI, during {operations:,} "
        f"operations. !: they waited until it came back, which makes {stall_us:g} µs for each. "
        f"First, longest: of 20 to a target that has just left MPI, to compute for "
        f"{times.absence_us:,.0f} µs.",
        highlight=False,
    )
    place = setting.place(f"rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        operations=operations,
        busy_ms=busy_ms,
        rounds=rounds,
    )

    def draw(where: str, path: Path) -> None:
        progress_figure.draw(times, versions, where, path)

    path = arguments.output / "progress.png"
    return outcome.report(console, [], failures, place, results, path, draw)
