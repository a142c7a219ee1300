# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench progress`: put and flush to a target that computes, and to one that waits in MPI."""

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
from rich.text import Text

from oriel.bench import outcome
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import GRID, STYLE, plt

IDLE = "idle"
BUSY = "busy"
TARGETS = (IDLE, BUSY)

Key = tuple[str, str, str, str]  # window, target, host, way


@dataclass(frozen=True)
class Run:
    operations: int
    seconds: float  # of all of them
    busy_s: float  # how long a busy target computed

    @property
    def us(self) -> float:
        """Microseconds per operation."""
        return 1e6 * self.seconds / self.operations


@dataclass
class ProgressTimes:
    runs: dict[Key, list[Run]] = field(default_factory=lambda: defaultdict(list))
    # By window, host and way: of each run the microseconds of the first operations to a target that
    # had just left MPI to compute for `absence_us`.
    firsts: dict[tuple[str, str, str], list[list[float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    absence_us: float = 0

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            if "first_us" in line:
                self.firsts[line["window"], host, way].append(line["first_us"])
                self.absence_us = 1e6 * line["absence_s"]
                continue
            run = Run(line["operations"], line["seconds"], line["busy_s"])
            self.runs[line["window"], line["target"], host, way].append(run)
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def windows(self) -> list[str]:
        return list(dict.fromkeys(window for window, _, _, _ in self.runs))

    def median(self, window: str, target: str, host: str, way: str) -> float | None:
        """Microseconds per operation, median of the runs."""
        runs = self.runs.get((window, target, host, way))
        return statistics.median(run.us for run in runs) if runs else None

    def ratio(self, window: str, host: str, way: str) -> float | None:
        """A busy target's time against an idle one's."""
        idle, busy = (self.median(window, target, host, way) for target in TARGETS)
        return busy / idle if idle and busy else None

    def longest_first(self, window: str, host: str, way: str) -> float | None:
        """Microseconds of the longest first operation, median of the runs."""
        runs = self.firsts.get((window, host, way))
        return statistics.median(max(run) for run in runs) if runs else None

    def waits(self, window: str, host: str, way: str) -> bool:
        """Whether in most runs the operations took nearly as long as the target computed and then
        what they take with an idle target: nothing moved until the target came back to MPI."""
        idle, busy = (self.runs.get((window, target, host, way), []) for target in TARGETS)
        if not idle:
            return False
        work = 0.8 * statistics.median(run.seconds for run in idle)
        late = [run.seconds >= run.busy_s + work for run in busy]
        return 2 * sum(late) > len(late)

    def as_json(self) -> list[dict]:
        return [
            {
                "window": window,
                "target": target,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(window, target, host, way),
                "waits": target == BUSY and self.waits(window, host, way),
                "runs": [run.us for run in runs],
                "operations": [run.operations for run in runs],
                "first": self.firsts.get((window, host, way), []) if target == BUSY else [],
            }
            for (window, target, host, way), runs in self.runs.items()
        ]


BARS = {
    (HOST, IDLE): ("#d5dbe0", "the host's own, idle target"),
    (HOST, BUSY): ("#87949f", "the host's own, busy target"),
    (ORIEL, IDLE): ("#7fb4d0", "Oriel, idle target"),
    (ORIEL, BUSY): ("#14648c", "Oriel, busy target"),
}


def _draw(times: ProgressTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """After Figure 5 of the paper: an operation's time by window and target, as bars on a
    logarithmic scale."""
    hosts = times.hosts()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1,
            len(hosts),
            figsize=(len(times.windows()) * len(hosts) + 3, 4.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        handles: dict[str, object] = {}
        for host, axes in zip(hosts, grid[0]):
            handles |= _bars(axes, times, host)
            axes.set_title(versions[host], loc="left", fontsize=10)
        grid[0, 0].set_ylabel("time of put and flush (µs)", fontsize=9)
        drawing.title(figure, "8 B to a target that waits in MPI, or computes")
        drawing.legend(
            figure, handles.values(), handles.keys(), 2, f"!: waited until it was back. {where}"
        )
        drawing.save(figure, path)


def _bars(axes: Axes, times: ProgressTimes, host: str) -> dict[str, object]:
    """Draws one host's bars; returns them by their labels."""
    windows = times.windows()
    width = 0.84 / len(BARS)
    handles = {}
    for index, ((way, target), (colour, label)) in enumerate(BARS.items()):
        points = [
            (
                column - 0.42 + (index + 0.5) * width,
                times.median(window, target, host, way),
                "!" if target == BUSY and times.waits(window, host, way) else "",
            )
            for column, window in enumerate(windows)
        ]
        points = [point for point in points if point[1]]
        handles[label] = axes.bar(
            [x for x, _, _ in points], [time for _, time, _ in points], width * 0.92, color=colour
        )
        drawing.label_bars(axes, ((x, time, f"{time:.2g}{mark}") for x, time, mark in points))
    drawing.logarithmic(axes)
    axes.margins(y=0.15)
    axes.set_xticks(range(len(windows)), windows, fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles


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
        _draw(times, versions, where, path)

    path = arguments.output / "progress.png"
    return outcome.report(console, [], failures, place, results, path, draw)
