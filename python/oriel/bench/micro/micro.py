# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench micro`: the time of one-sided calls, each host MPI alone against Oriel on it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oriel.bench import outcome
from oriel.bench.micro import micro_figure
from oriel.bench.micro.micro_times import Row, Timings
from oriel.bench.options import positive
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts import job
from oriel.hosts.host import Host, host_title, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.console import progress_bar

TIMEOUT_S = 180
SUBJECTS = ("windows", "messages")
# Between nodes: what travels with its synchronization, what is cut into pieces, and in between.
NETWORK_SIZES = ("8", "4096", "65536", "1048576", "4194304")
QUICK_OPTIONS = ("--batches", "3", "--batch-us", "50")
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3
STATISTICS = {"median": Timings.median, "fastest": Timings.fastest}
WINDOW_TITLES = {
    "allocated": "Allocated windows (MPI_Win_allocate)",
    "created": "Created windows (MPI_Win_create on private memory)",
    "none": "No window: messages in a program without windows",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs",
        type=positive,
        default=5,
        metavar="R",
        help="how often each program is started each way (default: 5)",
    )
    parser.add_argument(
        "--by",
        choices=list(STATISTICS),
        default="median",
        help="what the tables compare: the median, or the fastest batch, which other work on the "
        "machine disturbs least (default: median)",
    )


def _plan(hosts: list[Host], number: int) -> Iterator[tuple[Host, str, str]]:
    """(host, subject, way) of every job of a round. The ways alternate, and so do the hosts, so
    that what disturbs the machine for a while disturbs all; every second time ours comes first."""
    for host in hosts:
        for subject in SUBJECTS:
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                yield host, subject, way


def _measure(
    hosts: list[Host], runs: int, quick: bool, nodes: Nodes | None
) -> tuple[Timings, list[str]]:
    timings = Timings(between_nodes=nodes is not None)
    failures: dict[tuple[str, str, str], str] = {}
    jobs = len(list(_plan(hosts, 0)))
    with progress_bar() as bar:
        task = bar.add_task("", total=runs * jobs)
        for number in range(runs if quick else MOST_ROUNDS * runs):
            if number >= runs:
                if failures or timings.enough(runs):
                    break
                bar.update(task, total=(number + 1) * jobs)
            for host, subject, way in _plan(hosts, number):
                what = f"{host.title}, {subject}, {'alone' if way == HOST else 'with Oriel'}"
                bar.update(task, description=what)
                if (host.name, subject, way) not in failures:
                    program = [str(own_program(host, "micro")), "--measure", subject]
                    program += QUICK_OPTIONS if quick else ()
                    if nodes:
                        program += [word for size in NETWORK_SIZES for word in ("--bytes", size)]
                    argv, environment = host.command(2, program, preload=way == ORIEL, nodes=nodes)
                    output, failure = job.run(argv, environment, TIMEOUT_S)
                    if not failure and timings.read(host.name, way, output) == 0:
                        failure = "it printed no results"
                    if failure:
                        failures[host.name, subject, way] = f"{what}: the run failed, {failure}."
                bar.advance(task)
        bar.update(task, description="measured")
    return timings, list(failures.values())


def _microseconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _ours(timings: Timings, row: Row, host: str, by: str) -> Text:
    value = STATISTICS[by]
    ratio = timings.ratio(row, host, value)
    if ratio is None:
        return Text("–")
    late = row.has_window and ratio > timings.limit(row)
    cell = f"{_microseconds(value(timings, row, host, ORIEL))}  {ratio:.2f}×{'!' if late else ' '}"
    return Text(cell, style="red" if late else "")


def _table(timings: Timings, window: str, by: str) -> Table:
    table = Table(title=f"{WINDOW_TITLES[window]}: {by} µs", title_justify="left")
    table.add_column("Row")
    hosts = timings.hosts()
    for host in hosts:
        table.add_column(host_title(host), justify="right")
    for host in hosts:
        table.add_column(f"Oriel on {host_title(host)}", justify="right")
    for row in timings.rows():
        if row.window == window:
            theirs = [_microseconds(STATISTICS[by](timings, row, host, HOST)) for host in hosts]
            table.add_row(row.title, *theirs, *(_ours(timings, row, host, by) for host in hosts))
    return table


def verdicts(timings: Timings) -> list[str]:
    """How far what was promised holds, as sentences."""
    rows = [row for row in timings.rows() if row.has_window]
    short = [row for row in rows if timings.limit(row) < 1]
    groups = (
        (short, "8 B rows on allocated windows", "at most half of the best host's time"),
        (
            [row for row in rows if row not in short],
            "other rows",
            "not slower than the best host",
        ),
    )
    sentences = []
    for members, name, promise in groups:
        pairs = sum(
            timings.ratio(row, host) is not None for row in members for host in timings.hosts()
        )
        if not pairs:
            continue
        missed = len(timings.misses(members))
        missed_fastest = len(timings.misses(members, Timings.fastest))
        sentences.append(
            f"{name}, {promise}: {pairs - missed} of {pairs} by the median, "
            f"{pairs - missed_fastest} of {pairs} by the fastest batch."
        )
    return sentences


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "micro")
    versions = setting.versions
    runs = 1 if arguments.quick else arguments.runs
    timings, failures = _measure(setting.hosts, runs, arguments.quick, nodes)
    for window in WINDOW_TITLES:
        if any(row.window == window for row in timings.rows()):
            console.print(_table(timings, window, arguments.by))
    console.print(
        "×: ours against the best host's own time in the row; without windows, against the same "
        "host. !: more than promised.",
        highlight=False,
    )
    distances = [] if nodes else [timings.told_distances()]
    place = setting.place(f"{runs} runs or more")
    results = setting.results(timings.as_json(), runs=runs)

    def draw(where: str, path: Path) -> None:
        value = STATISTICS[arguments.by]
        micro_figure.draw(timings, versions, arguments.hosts, value, where, path)

    notes = [*verdicts(timings), *distances]
    path = arguments.output / "micro.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
