# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench report`: what a report, a timeline and a counter of MPI_T cost the calls of a
program, and how fast `oriel report` reads what they record."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.ratio_table import ratio_text
from oriel.bench.recording import recording_figure
from oriel.bench.recording.recorded_runs import RecordedRuns
from oriel.bench.recording.recording_times import (
    BYTES,
    CALLS,
    COUNTER,
    PUT_FLUSH,
    RECORDING,
    REPORT,
    ROUND_TRIPS,
    STATISTICS,
    TIMELINE,
    TITLES,
    RecordingTimes,
    Statistic,
    row_title,
)
from oriel.bench.rounds import FORMS, WITHOUT_UCX, Form, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

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
        recording_figure.draw(times, setting.versions, where, path)

    path = arguments.output / "report.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
