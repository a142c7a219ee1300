# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench lu`: an LU decomposition, nonblocking epochs against blocking ones and messages."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.lu import lu_figure
from oriel.bench.lu.lu_times import (
    BCAST,
    BLOCKING,
    EARLY,
    ISEND,
    NONBLOCKING,
    PAPER,
    TITLES,
    LuCase,
    LuTimes,
)
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.units import time_text

TIMEOUT_S = 600  # hosts that spin take a scheduler's slice for each row where ranks share cores
QUICK_ORDERS = [33, 64]  # one of them is no multiple of any number of ranks
# Nonblocking epochs are Oriel's.
COLUMNS = (
    (ISEND, HOST),
    (BCAST, HOST),
    (EARLY, HOST),
    (BLOCKING, ORIEL),
    (EARLY, ORIEL),
    (NONBLOCKING, ORIEL),
)


def _table(
    times: LuTimes,
    host: str,
    title: str,
    first: str,
    cells: Callable[[LuCase], Sequence[str]],
    last: Sequence[str] = (),
) -> Table:
    """A row per case: the host's own blocking epochs, the other series, and columns of its own."""
    table = Table(title=title, title_justify="left")
    for name in ("Order", "Ranks", f"{TITLES[BLOCKING]}\n{first}"):
        table.add_column(name, justify="right")
    for variant, way in COLUMNS:
        table.add_column(f"{TITLES[variant]}\n{WAY_TITLES[way]}", justify="right")
    for name in last:
        table.add_column(name, justify="right")
    for case in times.cases():
        table.add_row(f"{case.order}", f"{case.ranks}", *cells(case))
    return table


def _time_table(times: LuTimes, host: str, version: str) -> Table:
    def cells(case: LuCase) -> Sequence[str]:
        own = times.median(BLOCKING, case, host, HOST)
        return [
            time_text(own / 1e3 if own else None),
            *(ratio_text(times.ratio(variant, case, host, way)) for variant, way in COLUMNS),
            ratio_text(times.gain(case, host)),
            ratio_text(PAPER),
        ]

    title = f"{version}: time of a decomposition against its own blocking epochs"
    last = ("nonblocking /\nblocking, Oriel", "the\npaper")
    return _table(times, host, title, "own (ms)", cells, last)


def _share_table(times: LuTimes, host: str, version: str) -> Table:
    def cells(case: LuCase) -> Sequence[str]:
        shares = [
            times.share(variant, case, host, way) for variant, way in ((BLOCKING, HOST), *COLUMNS)
        ]
        return ["–" if share is None else f"{100 * share:.0f} %" for share in shares]

    title = f"{version}: share of the time that ranks spend in MPI calls"
    return _table(times, host, title, "own", cells)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "lu")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    batches = 1 if arguments.quick else arguments.batches
    orders = QUICK_ORDERS if arguments.quick else arguments.orders
    words = ["--window", arguments.window, "--batches", str(batches)]
    for order in orders:
        words += ["--order", str(order)]
    times = LuTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "lu")), *words]

    failures = []
    for ranks in arguments.ranks:
        failures += play(
            setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes, WITHOUT_UCX
        )
    for host in times.hosts():
        console.print(_time_table(times, host, versions[host]))
        console.print(_share_table(times, host, versions[host]))
    console.print(
        "Ratios are to the host's own blocking epochs: below 1 is less time. blocking: the owner "
        "of a row computes before it closes its access epoch; early complete: after that. The "
        "paper's ratio is from its Figure 13, 64 to 128 processes. All factors were checked; in "
        f"units of ||A|| n eps, ||A - L U|| was at most {times.residual:.2g}, the distance from "
        f"LAPACK's factors {times.difference:.2g}.",
        highlight=False,
    )
    notes = [sentence for ranks in arguments.ranks for sentence in setting.crowded(ranks)]
    place = setting.place(f"{arguments.window} window, rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        window=arguments.window,
        rounds=rounds,
        residual=times.residual,
        difference=times.difference,
        paper=PAPER,
    )

    def draw(where: str, path: Path) -> None:
        lu_figure.draw(times, versions, where, path)

    path = arguments.output / "lu.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
