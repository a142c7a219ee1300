# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench report`: what a report, a timeline and a counter of MPI_T cost the calls of a
program, and how fast `oriel report` reads what they record."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.distances import Run, Runs
from oriel.bench.micro_times import title_of
from oriel.bench.ratio_table import ratio_text
from oriel.bench.rounds import FORMS, WITHOUT_UCX, Form, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.hosts.temporary_folder import TemporaryFolder
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, STYLE, plt
from oriel.wait_states.record import RecordError, read_records

REPORT = "report"
TIMELINE = "timeline"
COUNTER = "counter"
TITLES = {
    HOST: "the host alone",
    ORIEL: "Oriel",
    REPORT: "with --report",
    TIMELINE: "with --timeline",
    COUNTER: "with a counter of MPI_T",
}
RECORDING = (REPORT, TIMELINE, COUNTER)

PUT_FLUSH = "put_flush"
# Of the program micro, in the order of the table.
CALLS = (
    PUT_FLUSH,
    "get_flush",
    "fetch_and_op_flush",
    "put_lock",
    "put_lock_all",
    "put_post_start",
    "put_fence",
)
# Of the program notify: half round trips. A host alone has only the messages.
MESSAGES = "messages"
NOTIFIED = "put_notify"
ROUND_TRIPS = (NOTIFIED, MESSAGES)
ROUND_TRIP_TITLES = {NOTIFIED: "put_notify, half a round trip", MESSAGES: "messages, the same"}
BYTES = 8

# Takes times, row, host and way; microseconds.
Statistic = Callable[["RecordingTimes", str, str, str], Optional[float]]
STATISTICS: dict[str, Statistic] = {"median": Runs.median, "fastest batch": Runs.fastest}


def row_title(row: str) -> str:
    return ROUND_TRIP_TITLES.get(row) or title_of(row)


class RecordingTimes(Runs):
    """All runs: by row, host and way."""

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            # The program notify measures empty notifications, too.
            if line.get("size") != 0:
                run = Run(line["samples"], tuple(line["round_trip_ns"]))
                self.add(run, line["row"], host, way)
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, host, _ in self.runs))

    def rows(self) -> list[str]:
        return [row for row in (*CALLS, *ROUND_TRIPS) if any(row == each for each, *_ in self.runs)]

    def ratio(self, row: str, host: str, way: str, value: Statistic = Runs.median) -> float | None:
        """Oriel's time to that of the host alone; that of a way that records to Oriel's."""
        time = value(self, row, host, way)
        other = value(self, row, host, HOST if way == ORIEL else ORIEL)
        return time / other if time and other else None

    def added_ns(
        self, row: str, host: str, way: str, value: Statistic = Runs.median
    ) -> float | None:
        """What a way that records adds to Oriel's time."""
        time = value(self, row, host, way)
        ours = value(self, row, host, ORIEL)
        return 1e3 * (time - ours) if time and ours else None

    def as_json(self) -> list[dict]:
        return [
            {
                "row": row,
                "bytes": BYTES,
                "host": host,
                "way": way,
                **self.as_times(row, host, way),
                **({} if way == HOST else {"ratio": self.ratio(row, host, way)}),
                **({"added_ns": self.added_ns(row, host, way)} if way in RECORDING else {}),
            }
            for row, host, way in self.runs
        ]


# Of all runs; more would take most of the benchmark's time.
_ENOUGH_EVENTS = 200_000


@dataclass(frozen=True)
class Reading:
    """What `oriel report` has made of one run's records, in seconds of processor time."""

    events: int
    seconds: float


@dataclass
class RecordedRuns:
    """`readings`: of the runs whose records have been read, up to the first that `oriel report`
    could not read; `failures`: what it said of that one."""

    readings: list[Reading] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def report(self) -> Iterator[Mapping[str, str]]:
        """Settings for a run that records. Behind the first runs their reports are made."""
        with TemporaryFolder("bench") as folder:
            yield {"ORIEL_REPORT": str(folder)}
            events = sum(reading.events for reading in self.readings)
            if events < _ENOUGH_EVENTS and not self.failures:
                self._read(folder)

    @contextmanager
    def timeline(self) -> Iterator[Mapping[str, str]]:
        """The same with every operation, without a report."""
        with TemporaryFolder("bench") as folder:
            yield {"ORIEL_REPORT": str(folder), "ORIEL_TIMELINE": "1"}

    def _read(self, folder: Path) -> None:
        try:
            records, _ = read_records(folder)
        except RecordError:  # the run has failed, and says why
            return
        events = sum(record.events for record in records)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [sys.executable, "-m", "oriel", "report", folder],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            self.failures.append(f"`oriel report` failed: {ended.stderr.strip()}")
            return
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.readings.append(Reading(events, seconds))

    def speed(self) -> float | None:
        """Events per second of processor time."""
        seconds = sum(reading.seconds for reading in self.readings)
        return sum(reading.events for reading in self.readings) / seconds if seconds else None


_COLOURS = {
    HOST: COLOURS["host"],
    ORIEL: COLOURS["nonblocking"],
    REPORT: COLOURS["blocking"],
    TIMELINE: "#b05454",
    COUNTER: "#8f7fb8",
}
_WIDTH = 0.17  # of a bar; the distance of two groups is 1


def _draw(times: RecordingTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """For each call a bar for each way, a panel for each host."""
    hosts = times.hosts()
    rows = times.rows()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts), 1, figsize=(11, 2.9 * len(hosts) + 1.8), layout="constrained", squeeze=False
        )
        for host, axes in zip(hosts, grid[:, 0]):
            for number, way in enumerate(TITLES):
                found = [
                    (place + (number - 2) * _WIDTH, 1e3 * us)
                    for place, row in enumerate(rows)
                    if (us := times.median(row, host, way))
                ]
                places, heights = zip(*found)
                axes.bar(places, heights, _WIDTH, color=_COLOURS[way], label=TITLES[way])
                labels = [f"{ns:.1f}" if ns < 100 else f"{ns:,.0f}" for ns in heights]
                drawing.label_bars(axes, zip(places, heights, labels), size=5)
            drawing.logarithmic(axes)
            axes.set_ylabel("ns", fontsize=9)
            axes.set_xticks(
                range(len(rows)), [row_title(row).replace(", ", ",\n") for row in rows], fontsize=7
            )
            axes.yaxis.grid(True, color=GRID)
            axes.tick_params(axis="both", length=0)
            axes.set_title(versions[host], loc="left", fontsize=10)
        drawing.title(figure, "What a report, a timeline and a counter of MPI_T add to a call")
        drawing.legend(figure, *grid[0, 0].get_legend_handles_labels(), len(TITLES), where)
        drawing.save(figure, path)


RANKS = 2
TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")
PVAR = "oriel_epochs_lock"  # any of those that count events
# The goals of B1: what is added to a put and a flush, in nanoseconds.
GOALS_NS = {REPORT: 10, TIMELINE: 50}
LEGEND = (
    "ns; ×: Oriel against the host alone, and the others against Oriel; +: ns more than Oriel. A "
    "lock, a put and an unlock are six events of a report, and seven of a timeline; the put and "
    "the flush one of a timeline."
)


def _ns(us: float | None) -> str:
    if us is None:
        return "–"
    return f"{1e3 * us:.1f}" if us < 0.1 else f"{1e3 * us:,.0f}"


def _cell(times: RecordingTimes, row: str, host: str, way: str, value: Statistic) -> str:
    cell = _ns(value(times, row, host, way))
    ratio = times.ratio(row, host, way, value)
    if way == HOST or ratio is None:
        return cell
    added = times.added_ns(row, host, way, value)
    more = f"  {added:+.{0 if abs(added) >= 100 else 1}f}" if way in RECORDING and added else ""
    return f"{cell}  {ratio_text(ratio)}×{more}"


def _table(times: RecordingTimes, host: str, version: str, statistic: str) -> Table:
    table = Table(title=f"{version}: {statistic}, ns", title_justify="left")
    table.add_column(f"{BYTES} B")
    for title in TITLES.values():
        table.add_column(title, justify="right")
    for row in times.rows():
        value = STATISTICS[statistic]
        table.add_row(row_title(row), *(_cell(times, row, host, way, value) for way in TITLES))
    return table


def verdicts(times: RecordingTimes, versions: dict[str, str]) -> list[str]:
    """How far what was promised holds, a sentence for each host and goal."""
    sentences = []
    for host in times.hosts():
        for way, goal in GOALS_NS.items():
            time, ours = (times.median(PUT_FLUSH, host, each) for each in (way, ORIEL))
            if time and ours:
                sentences.append(
                    f"{versions[host]}: {TITLES[way]} a put and a flush take {_ns(time)} ns "
                    f"instead of {_ns(ours)}; the goal is at most {goal} ns more."
                )
    return sentences


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "micro")
    rounds = 1 if arguments.quick else arguments.rounds
    times = RecordingTimes()
    recorded = RecordedRuns()
    forms = {
        **FORMS,
        REPORT: Form(TITLES[REPORT], settings=recorded.report),
        TIMELINE: Form(TITLES[TIMELINE], settings=recorded.timeline),
        COUNTER: Form(TITLES[COUNTER]),
    }

    def words(program: str, rows: Sequence[str], own: Sequence[str]):
        def command(host: Host, way: str) -> Sequence[str]:
            options = [word for row in rows for word in ("--row", row)]
            options += ["--bytes", str(BYTES), *own]
            options += QUICK_OPTIONS if arguments.quick else ()
            options += ("--pvar", PVAR) if way == COUNTER else ()
            return [str(own_program(host, program)), *options]

        return command

    failures = []
    for command in (
        words("micro", CALLS, ("--window", "allocated")),
        words("notify", ROUND_TRIPS, ("--measure", "put")),
    ):
        failures += play(
            setting.hosts,
            rounds,
            RANKS,
            command,
            times.read,
            TIMEOUT_S,
            nodes,
            WITHOUT_UCX,
            forms,
        )
    failures += recorded.failures
    for host in times.hosts():
        for statistic in STATISTICS:
            console.print(_table(times, host, setting.versions[host], statistic))
    console.print(LEGEND, highlight=False)
    notes = [] if nodes else verdicts(times, setting.versions)
    if speed := recorded.speed():
        notes.append(
            f"`oriel report` reads {speed:,.0f} events in a second of processor time "
            f"(records of {len(recorded.readings)} runs, "
            f"{sum(reading.events for reading in recorded.readings):,} events)."
        )
    if not nodes:
        notes += [*setting.crowded(RANKS), times.told_distances()]
    place = setting.place(f"{RANKS} ranks, rounds: {rounds}")
    results = setting.results(times.as_json(), rounds=rounds, events_per_second=recorded.speed())

    def draw(where: str, path: Path) -> None:
        _draw(times, setting.versions, where, path)

    path = arguments.output / "report.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
