# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench threads`: put and flush by the threads of a rank, by scope and order of a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import outcome
from oriel.bench.ratio_table import WAY_TITLES
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.threads import threads_figures, threads_tables
from oriel.bench.threads.threads_times import (
    ALL_HINTS,
    PAPER,
    PAPER_THREADS,
    PUTS,
    Case,
    ThreadTimes,
)
from oriel.bench.ways import WAYS
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

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
    console.print(threads_tables.by_threads(times, versions))
    for threads in sorted({1, most}):
        console.print(threads_tables.by_size(times, versions, threads))
    console.print(threads_tables.in_a_row(times, versions))
    if most > 1:
        console.print(threads_tables.beside(times, versions, LONG))
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
        threads_figures.draw(times, versions, arguments.hosts, caption, path.parent)

    path = arguments.output / "threads.png"
    figures = [f"{name}.png" for name in threads_figures.NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
