# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench transactions`: unstructured atomic updates, each in a lock epoch of its own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.transactions import transactions_figure
from oriel.bench.transactions.transactions_times import (
    BLOCKING,
    PAPER,
    REORDERED,
    TITLES,
    TransactionsTimes,
)
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 600
COLUMNS = ((BLOCKING, HOST, "own"), *((variant, ORIEL, "Oriel") for variant in TITLES))
QUICK = {"--batches": 2, "--batch-us": 200, "--limit-s": 1}
LEGEND = (
    "Transactions per second of all ranks together: an exclusive lock, an accumulate on one word, "
    "an unlock. Every word was compared with the sum of its updates. The paper's A_A_A_R / "
    "blocking (its Figure 12), on its cluster: "
    + ", ".join(f"{ratio:.2f} on {ranks} ranks" for ranks, ratio in PAPER.items())
    + "."
)


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _ratio(ours: float | None, other: float | None) -> str:
    return f"{ours / other:.2f}" if ours and other else "–"


def _table(times: TransactionsTimes, host: str, version: str) -> Table:
    table = Table(title=f"{version}: transactions per second", title_justify="left")
    for what in ("Ranks", "computing\n(µs)"):
        table.add_column(what, justify="right")
    for variant, _, way in COLUMNS:
        table.add_column(f"{TITLES[variant]}\n{way}", justify="right")
    table.add_column("blocking\n/ own", justify="right")
    table.add_column("A_A_A_R\n/ blocking", justify="right")
    for compute_us in times.computations():
        for ranks in times.ranks():
            rates = {
                (variant, way): times.rate(variant, ranks, compute_us, host, way)
                for variant, way, _ in COLUMNS
            }
            blocking = rates[BLOCKING, ORIEL]
            table.add_row(
                str(ranks),
                str(compute_us),
                *map(_rate, rates.values()),
                _ratio(blocking, rates[BLOCKING, HOST]),
                _ratio(rates[REORDERED, ORIEL], blocking),
            )
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "transactions")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    options = {
        "--window": arguments.window,
        "--words": arguments.words,
        "--batches": arguments.batches,
        **(QUICK if arguments.quick else {}),
    }
    words = [str(word) for option in options.items() for word in option]
    for compute_us in arguments.compute_us:
        words += ["--compute-us", str(compute_us)]
    times = TransactionsTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "transactions")), *words]

    failures = []
    for ranks in arguments.ranks:
        failures += play(setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes)
    for host in times.hosts():
        console.print(_table(times, host, versions[host]))
    console.print(LEGEND, highlight=False)
    notes = [note for ranks in arguments.ranks for note in setting.crowded(ranks)]
    place = setting.place(
        f"{arguments.words} words for each rank, {arguments.window} window, rounds: {rounds}"
    )
    results = setting.results(
        times.as_json(), words=arguments.words, window=arguments.window, rounds=rounds, paper=PAPER
    )

    def draw(where: str, path: Path) -> None:
        transactions_figure.draw(times, versions, where, path)

    path = arguments.output / "transactions.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
