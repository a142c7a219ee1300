# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench notify`: notified access against messages and the other one-sided calls."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import outcome
from oriel.bench.notify import notify_figures, notify_tables
from oriel.bench.notify.notify_times import GET, PUT, NotifyTimes
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

RANKS = 2
TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50", "--most", "1000")
QUICK_SIZES = ("--bytes", "8", "--bytes", "65536")
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3


def _print_tables(times: NotifyTimes, versions: dict[str, str], nodes: int, console: Console):
    for measure in (PUT, GET):
        for host in times.hosts():
            console.print(notify_tables.round_trips(times, measure, host, versions[host]))
    for table in (
        notify_tables.overlap(times, versions),
        notify_tables.epochs(times, versions),
        notify_tables.costs(times, versions),
        notify_tables.matching(times, versions),
        notify_tables.goals(times, versions, between_nodes=nodes > 1),
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
    notes = notify_tables.told_misses(times, versions)
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
        notify_figures.draw(times, versions, arguments.hosts, where, path.parent)

    path = arguments.output / "notify.png"
    figures = [f"{figure.name}.png" for figure in notify_figures.FIGURES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
