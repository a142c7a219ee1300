# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench micro`: the time of one-sided calls, each host MPI alone against Oriel on it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oriel.bench import outcome
from oriel.bench.micro import micro_figure, micro_history
from oriel.bench.micro.micro_options import STATISTICS
from oriel.bench.micro.micro_times import (
    CONTENDED,
    EVERY_OPERATION,
    MAPPED,
    MESSAGES,
    SETS,
    USUAL,
    Row,
    Timings,
)
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts import job
from oriel.hosts.host import Host, own_program
from oriel.hosts.mpi_kinds import kind_of
from oriel.hosts.nodes import Nodes
from oriel.report.console import progress_bar

TIMEOUT_S = 180
EVERY_TIMEOUT_S = 900
# What --all measures: no contended rows, because their number of ranks is chosen for each run.
ALL_SETS = tuple(each for each in SETS if each not in (USUAL, CONTENDED))
SET_TITLES = {
    "sizes": "1 to 8,192 elements",
    "vectors": "vectors of 8 B in every 16 B of the target",
    CONTENDED: "all ranks at one word of rank 0",
}
# Between nodes: what travels with its synchronization, what is cut into pieces, and in between.
NETWORK_SIZES = ("8", "4096", "65536", "1048576", "4194304")
QUICK_OPTIONS = ("--batches", "3", "--batch-us", "50")
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3
WINDOW_TITLES = {
    "allocated": "Allocated windows (MPI_Win_allocate)",
    "created": "Created windows (MPI_Win_create on whole pages of the program)",
    "dynamic": "Dynamic windows (MPI_Win_create_dynamic, pages of the program attached)",
    "none": "No window: messages in a program without windows",
}


def _plan(
    hosts: Sequence[Host], sets: Sequence[str], number: int
) -> Iterator[tuple[Host, str, str]]:
    """(host, set, way) of every job of a round. The ways alternate, and so do the hosts, so that
    what disturbs the machine for a while disturbs all; every second time ours comes first."""
    for host in hosts:
        for row_set in sets:
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                yield host, row_set, way


def _sets(arguments: argparse.Namespace) -> tuple[str, ...]:
    if arguments.set:
        return (arguments.set,)
    return ALL_SETS if arguments.all else (USUAL, MESSAGES)


def _shares_cores(arguments: argparse.Namespace, setting: Setting) -> bool:
    return arguments.crowded or arguments.n > setting.machine["cores"]


def _options(arguments: argparse.Namespace, setting: Setting, nodes: Nodes | None) -> list[str]:
    """Of the program."""
    options = [*QUICK_OPTIONS] if arguments.quick else []
    if _shares_cores(arguments, setting):
        options += ["--crowded", "yes"]
    if nodes:
        options += [word for size in NETWORK_SIZES for word in ("--bytes", size)]
    return options


def _measure(
    setting: Setting, arguments: argparse.Namespace, runs: int, nodes: Nodes | None
) -> tuple[Timings, list[str]]:
    options = _options(arguments, setting, nodes)
    sets = _sets(arguments)
    timings = Timings(between_nodes=nodes is not None)
    failures: dict[tuple[str, str, str], str] = {}
    jobs = len(list(_plan(setting.hosts, sets, 0)))
    with progress_bar() as bar:
        task = bar.add_task("", total=runs * jobs)
        for number in range(runs if arguments.quick else MOST_ROUNDS * runs):
            if number >= runs:
                if failures or timings.enough(runs):
                    break
                bar.update(task, total=(number + 1) * jobs)
            for host, row_set, way in _plan(setting.hosts, sets, number):
                what = f"{host.title}, {row_set}, {'alone' if way == HOST else 'with Oriel'}"
                bar.update(task, description=what)
                if (host.name, row_set, way) not in failures:
                    program = [str(own_program(host, "micro")), "--set", row_set, *options]
                    timeout_s = EVERY_TIMEOUT_S if row_set == EVERY_OPERATION else TIMEOUT_S
                    argv, environment = host.command(
                        arguments.n, program, preload=way == ORIEL, nodes=nodes
                    )
                    output, failure = job.run(argv, environment, timeout_s)
                    if not failure and timings.read(host.name, way, output) == 0:
                        failure = "it printed no results"
                    if failure:
                        failures[host.name, row_set, way] = f"{what}: the run failed, {failure}."
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


def _table(timings: Timings, row_set: str, window: str, by: str) -> Table:
    title = "; ".join(filter(None, [WINDOW_TITLES[window], SET_TITLES.get(row_set)]))
    table = Table(title=f"{title}: {by} µs", title_justify="left")
    table.add_column("Row")
    hosts = timings.hosts()
    for host in hosts:
        table.add_column(kind_of(host).title, justify="right")
    for host in hosts:
        table.add_column(f"Oriel on {kind_of(host).title}", justify="right")
    for row in timings.rows():
        if (row.set, row.window) == (row_set, window):
            theirs = [_microseconds(STATISTICS[by](timings, row, host, HOST)) for host in hosts]
            table.add_row(row.title, *theirs, *(_ours(timings, row, host, by) for host in hosts))
    return table


def verdicts(timings: Timings) -> list[str]:
    """How far what was promised holds, as sentences."""
    rows = [row for row in timings.rows() if row.has_window]
    short = [row for row in rows if timings.limit(row) < 1]
    others = [row for row in rows if row not in short]
    groups = [
        (
            [row for row in short if row.window == window],
            f"8 B rows on {window} windows",
            "at most half of the best host's time",
        )
        for window in MAPPED
    ]
    groups.append((others, "other rows", "not slower than the best host"))
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


def _save(path: Path, results: dict, console: Console) -> None:
    line = micro_history.entry(results)
    lines = micro_history.append(path, line)
    figure = path.with_suffix(".png")
    micro_history.draw(lines, figure)
    numbers = ", ".join(
        f"{kind_of(host).title} {number:.3f}" for host, number in line["number"].items()
    )
    console.print(
        f"Oriel's time against the same host's, geometric mean over the rows: {numbers}. Added to "
        f"{path}; {figure} has all runs of this setting.",
        highlight=False,
    )


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "micro")
    if arguments.crowded:
        # What is started from here inherits it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    runs = 1 if arguments.quick else arguments.runs
    timings, failures = _measure(setting, arguments, runs, nodes)
    for row_set, window in dict.fromkeys((row.set, row.window) for row in timings.rows()):
        console.print(_table(timings, row_set, window, arguments.by))
    console.print(
        "×: ours against the best host's own time in the row; without windows, against the same "
        "host. !: more than promised.",
        highlight=False,
    )
    if arguments.crowded:
        place_notes = [f"All {arguments.n} ranks share one core: they wait for it in turn."]
    else:
        place_notes = setting.crowded(arguments.n)
        if not nodes and not _shares_cores(arguments, setting):
            place_notes.append(timings.told_distances())
    place = setting.place(f"{arguments.n} ranks; {runs} runs or more")
    results = setting.results(
        timings.as_json(),
        runs=runs,
        ranks=arguments.n,
        crowded=arguments.crowded,
        quick=arguments.quick,
    )

    path = arguments.output / "micro.png"
    first, *others = [each for each in _sets(arguments) if each != MESSAGES]
    figures = {first: path, **{each: path.with_name(f"micro_{each}.png") for each in others}}

    def draw(where: str, _: Path) -> None:
        for row_set, its_path in figures.items():
            value = STATISTICS[arguments.by]
            micro_figure.draw(timings, row_set, SET_TITLES.get(row_set), value, where, its_path)

    notes = [*verdicts(timings), *place_notes]
    names = [each.name for each in figures.values()]
    status = outcome.report(console, notes, failures, place, results, path, draw, names)
    if arguments.save and status == 0:
        _save(arguments.save, results, console)
    return status
