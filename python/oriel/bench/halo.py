# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench halo`: the exchange of ghost cells, epochs against point-to-point communication."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import halo_figure, outcome
from oriel.bench.halo_times import MESSAGES, PAPER, PAPER_TITLES, TITLES, VARIANTS, HaloTimes
from oriel.bench.options import positive
from oriel.bench.rounds import compared, play
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import machine
from oriel.report.units import size_text

TIMEOUT_S = 300
MOST_RANKS = 16
WAY_TITLES = {HOST: "own", ORIEL: "Oriel"}
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cores = len(os.sched_getaffinity(0))
    ranks = min(cores, MOST_RANKS)
    parser.add_argument(
        "-n",
        type=positive,
        default=ranks,
        metavar="RANKS",
        help=f"ranks of the grid (default: one per core, {MOST_RANKS} at most; here {ranks})",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        default=5,
        metavar="R",
        help="how often the program is started each way (default: 5)",
    )
    parser.add_argument(
        "--batches",
        type=positive,
        default=9,
        metavar="B",
        help="how often a run measures each kind and size (default: 9)",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="the ghost cells are memory of MPI_Win_allocate, or the program's own given to "
        "MPI_Win_create (default: allocated)",
    )


def _ways(variant: str) -> tuple[str, ...]:
    """To a host alone the weak lock is its lock."""
    return (ORIEL,) if variant == "weak_lock" else (HOST, ORIEL)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _time(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _table(times: HaloTimes, host: str, title: str) -> Table:
    table = Table(title=f"{title}: time of a step against its messages", title_justify="left")
    table.add_column("Size", justify="right")
    table.add_column("messages\nown (µs)", justify="right", no_wrap=True)
    table.add_column("messages\nOriel", justify="right", no_wrap=True)
    for variant in VARIANTS:
        papers = [paper for paper in PAPER if variant in PAPER[paper]]
        for what in (*_ways(variant), *papers):
            table.add_column(f"{TITLES[variant]}\n{WAY_TITLES.get(what, what)}", justify="right")
    for size in times.sizes():
        cells = [
            size_text(size),
            _time(times.median(MESSAGES, size, host, HOST)),
            _ratio(times.ratio(MESSAGES, size, host, ORIEL)),
        ]
        for variant in VARIANTS:
            cells += [_ratio(times.ratio(variant, size, host, way)) for way in _ways(variant)]
            cells += [
                _ratio(ratios[variant].get(size)) for ratios in PAPER.values() if variant in ratios
            ]
        table.add_row(*cells)
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    hosts = compared(arguments.mpi, "halo")
    where = machine.description()
    versions = {host.name: host.title for host in hosts}
    rounds = 1 if arguments.quick else arguments.rounds
    words = ["--batches", str(arguments.batches)]
    times = HaloTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        options = QUICK_OPTIONS if arguments.quick else words
        return [str(own_program(host, "halo")), "--window", arguments.window, *options]

    failures = play(hosts, rounds, arguments.n, program, times.read, TIMEOUT_S, nodes)
    for host in times.hosts():
        console.print(_table(times, host, versions[host]))
    papers = "; ".join(f"{name}: {title}" for name, title in PAPER_TITLES.items())
    console.print(
        "Ratios are to the host's own messages: below 1 is less time. pscw: post, start, complete, "
        f"wait. {papers} (its Tables 1 and 2).",
        highlight=False,
    )
    notes = []
    if arguments.n > where["cores"]:
        notes.append(
            f"The {arguments.n} ranks share {where['cores']} cores: the times include waits for a "
            "core."
        )
    grid = " × ".join(str(extent) for extent in times.grid)
    place = (
        f"{outcome.place(where, versions, arguments.hosts)}; {grid} ranks, "
        f"{arguments.window} window, rounds: {rounds}"
    )
    results = {
        "machine": where,
        "hosts": versions,
        "grid": times.grid,
        "window": arguments.window,
        "rounds": rounds,
        "nodes": arguments.hosts,
        "rows": times.as_json(),
        "paper": PAPER,
    }

    def draw(where: str, path: Path) -> None:
        halo_figure.draw(times, versions, where, path)

    path = arguments.output / "halo.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
