# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench halo`: the exchange of ghost cells, epochs against point-to-point communication."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import options, outcome
from oriel.bench.halo import halo_figure
from oriel.bench.halo.halo_times import PAPER, PAPER_TITLES, TITLES, HaloTimes
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.size_table import size_table
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_repetition(parser)


def _ways(variant: str) -> tuple[str, ...]:
    """To a host alone the weak lock is its lock."""
    return (ORIEL,) if variant == "weak_lock" else (HOST, ORIEL)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "halo")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    words = ["--batches", str(arguments.batches)]
    times = HaloTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        lengths = QUICK_OPTIONS if arguments.quick else words
        return [str(own_program(host, "halo")), "--window", arguments.window, *lengths]

    failures = play(setting.hosts, rounds, arguments.n, program, times.read, TIMEOUT_S, nodes)
    for host in times.hosts():
        title = f"{versions[host]}: time of a step against its messages"
        console.print(size_table(times, host, title, TITLES, _ways, PAPER))
    papers = "; ".join(f"{name}: {title}" for name, title in PAPER_TITLES.items())
    console.print(
        "Ratios are to the host's own messages: below 1 is less time. pscw: post, start, complete, "
        f"wait. {papers} (its Tables 1 and 2).",
        highlight=False,
    )
    grid = " × ".join(str(extent) for extent in times.grid)
    place = setting.place(f"{grid} ranks, {arguments.window} window, rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        grid=times.grid,
        window=arguments.window,
        rounds=rounds,
        paper=PAPER,
    )

    def draw(where: str, path: Path) -> None:
        halo_figure.draw(times, versions, where, path)

    path = arguments.output / "halo.png"
    notes = setting.crowded(arguments.n)
    return outcome.report(console, notes, failures, place, results, path, draw)
