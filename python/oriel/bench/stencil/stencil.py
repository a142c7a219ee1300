# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench stencil`: a pipelined stencil by notified access, against messages and other ways to
tell a target that its data is there."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from oriel.bench import options
from oriel.bench.comparison import Comparison
from oriel.bench.size_table import WAY_TITLES, ratio_text
from oriel.bench.stencil import stencil_figure
from oriel.bench.stencil.stencil_times import NOTIFY, PAPER, TITLES, StencilTimes
from oriel.bench.ways import WAYS
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 600
QUICK_OPTIONS = {
    "--rows": 16,
    "--columns-per-rank": 32,
    "--columns": 256,
    "--batches": 2,
    "--iterations": 1,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_repetition(parser)
    for name, default, text in (
        ("--rows", 1280, "rows of the domains"),
        ("--columns-per-rank", 1280, "columns of each rank in the domain of the weak scaling"),
        ("--columns", 12800, "columns in all in the domain of the strong scaling"),
        ("--iterations", 2, "iterations of one batch"),
    ):
        parser.add_argument(
            name,
            type=options.positive,
            default=default,
            metavar="N",
            help=f"{text} (default: {default})",
        )


def _speed(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _table(times: StencilTimes, versions: dict[str, str]) -> Table:
    table = Table(
        title=f"Pipelined stencil, {times.ranks} ranks: GMOPS, and × the speed of messages",
        title_justify="left",
    )
    table.add_column("MPI", no_wrap=True)
    table.add_column("Variant", no_wrap=True)
    for scaling in times.cases():
        for unit in ("GMOPS", "×"):
            for way in WAYS:
                table.add_column(f"{scaling}\n{unit}\n{WAY_TITLES[way]}", justify="right")
        table.add_column(f"{scaling}\n×\npaper", justify="right", no_wrap=True)
    for host in times.hosts():
        for variant, name in TITLES.items():
            cells = []
            for scaling in times.cases():
                cells += [_speed(times.gmops(variant, scaling, host, way)) for way in WAYS]
                cells += [ratio_text(times.speed(variant, scaling, host, way)) for way in WAYS]
                cells.append(f"> {PAPER[scaling]}" if variant == NOTIFY else "")
            mpi = versions[host] if variant == next(iter(TITLES)) else ""
            table.add_row(mpi, name, *cells, end_section=variant == NOTIFY)
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    numbers = QUICK_OPTIONS if arguments.quick else _numbers(arguments)
    times = StencilTimes()

    def legend() -> str:
        domains = ", ".join(times.domain_text(scaling) for scaling in times.cases())
        return (
            f"{domains} points. GMOPS: billions of memory accesses per second, four for each "
            "point. ×: above 1 is faster than the host's own messages. limit: no communication. "
            "pscw: post, start, complete, wait. The paper's notified access is more than 2.17 "
            "times as fast as messages where it scales weakly, and more than 1.4 times on 32 "
            "processes where it scales strongly."
        )

    return Comparison(
        name="stencil",
        times=times,
        words=[str(word) for option in numbers.items() for word in option],
        timeout_s=TIMEOUT_S,
        tables=lambda versions: [_table(times, versions)] if times.runs else [],
        legend=legend,
        shape=lambda: f"{arguments.n} ranks",
        results=lambda: {"ranks": arguments.n, "domains": times.domains, "paper": PAPER},
        draw=stencil_figure.draw,
    ).run(arguments, console, nodes)


def _numbers(arguments: argparse.Namespace) -> dict[str, int]:
    return {
        "--rows": arguments.rows,
        "--columns-per-rank": arguments.columns_per_rank,
        "--columns": arguments.columns,
        "--batches": arguments.batches,
        "--iterations": arguments.iterations,
    }
