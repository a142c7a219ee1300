# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench tree`: a reduction along a tree by notified access that counts, against messages,
other ways to tell a target that its data is there, and the host's MPI_Reduce."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import options, outcome
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.size_table import size_table
from oriel.bench.tree import tree_figure
from oriel.bench.tree.tree_times import TITLES, TreeTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 600
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_repetition(parser)
    parser.add_argument(
        "--arity",
        type=options.positive,
        default=16,
        metavar="K",
        help="how many children a rank has at most (default: 16)",
    )


def _ways(variant: str) -> tuple[str, ...]:
    return (ORIEL,) if variant == "notify" else (HOST, ORIEL)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "tree")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    lengths = QUICK_OPTIONS if arguments.quick else ("--batches", str(arguments.batches))
    words = ["--window", arguments.window, "--arity", str(arguments.arity), *lengths]
    times = TreeTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "tree")), *words]

    failures = play(setting.hosts, rounds, arguments.n, program, times.read, TIMEOUT_S, nodes)
    for host in times.hosts():
        title = f"{versions[host]}, {times.shape_text()}: time of a reduction against its messages"
        console.print(size_table(times, host, title, TITLES, _ways, {}))
    console.print(
        "Ratios are to the host's own messages along the same tree: below 1 is less time. "
        "MPI_Reduce has whatever shape the host gives it. pscw: post, start, complete, wait.",
        highlight=False,
    )
    place = setting.place(f"{times.shape_text()}, {arguments.window} window, rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        ranks=arguments.n,
        arity=arguments.arity,
        window=arguments.window,
        rounds=rounds,
    )

    def draw(where: str, path: Path) -> None:
        tree_figure.draw(times, versions, where, path)

    path = arguments.output / "tree.png"
    notes = setting.crowded(arguments.n)
    return outcome.report(console, notes, failures, place, results, path, draw)
