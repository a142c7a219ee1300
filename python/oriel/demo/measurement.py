# SPDX-License-Identifier: BSD-3-Clause
"""Measures the patterns of `oriel demo`, and writes tables and figures."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench.rounds import Form, Run, carry_out
from oriel.demo import figures, page, tables
from oriel.demo.patterns import PATTERNS, WAYS, Pattern
from oriel.demo.results import Results
from oriel.hosts import advice
from oriel.hosts.host import Host, choose_hosts, own_program
from oriel.hosts.mpi_kinds import MPICH
from oriel.hosts.nodes import Nodes, across
from oriel.report import machine
from oriel.report.console import tables_console

ROUNDS = 5
QUICK_ITERATIONS = 3
QUICK_SIZES = (4, 4096)
TIMEOUT_S = 120


def _hosts(name: str) -> list[Host]:
    if name:
        return choose_hosts(name)
    found = choose_hosts("all")
    return [next((host for host in found if host.kind is MPICH), found[0])]


def _ways(pattern: Pattern, host: Host) -> tuple[str, ...]:
    ways = ("nonblocking",) if pattern.flag else WAYS
    return ways if host.library.is_file() else tuple(way for way in ways if way == "host")


def _words(program: Path, pattern: Pattern, way: str, iterations: int, quick: bool) -> list[str]:
    options = {
        "--pattern": pattern.name,
        "--iterations": str(iterations),
        "--mode": "nonblocking" if way == "nonblocking" else "blocking",
    }
    words = [str(program), *(word for option in options.items() for word in option)]
    if quick:
        for size in QUICK_SIZES:
            words += ["--size", str(size)]
    return words


def _measure(
    host: Host, patterns: list[Pattern], iterations: int, quick: bool, nodes: Nodes | None
) -> Results:
    results = Results(host.name, host.title, nodes.count if nodes else 1)
    if not host.library.is_file():
        results.failures.append(
            f"Oriel's library for {host.name} is not there, so only the host's own way was "
            f"measured. {advice.build_for_mpi()}"
        )
    program = own_program(host, "patterns")
    rounds = min(ROUNDS, iterations)
    shares = [iterations // rounds + (number < iterations % rounds) for number in range(rounds)]
    # The ways alternate, so that what disturbs the machine for a while disturbs all of them.
    runs = [
        Run(
            f"{pattern.title} on {host.name}, {way}",
            host,
            pattern.ranks,
            _words(program, pattern, way, share, quick),
            Form(way, preload=way != "host"),
            partial(results.read, way),
            TIMEOUT_S,
        )
        for pattern in patterns
        for share in shares
        for way in _ways(pattern, host)
    ]
    results.failures += carry_out(runs, nodes)
    return results


def _show(console: Console, table: tables.Table) -> None:
    shown = Table(title=table.title, title_justify="left")
    for index, column in enumerate(table.columns):
        shown.add_column(column, justify="left" if index < 2 else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    console.print(shown)


def _report(console: Console, results: Results) -> None:
    for table in (tables.inefficiencies(results), tables.flags(results)):
        if table.rows:
            _show(console, table)
    for note in tables.notes(results):
        console.print(f"- {note}", highlight=False, markup=False)


def run(arguments: argparse.Namespace) -> int:
    """Returns the exit status."""
    console = tables_console()
    iterations = (
        min(arguments.iterations, QUICK_ITERATIONS) if arguments.quick else (arguments.iterations)
    )
    patterns = [
        each for each in PATTERNS if not arguments.pattern or each.name in arguments.pattern
    ]
    hosts = _hosts(arguments.mpi)
    for host in hosts:
        own_program(host, "patterns")
    where = machine.description()
    sections = []
    with across(arguments.hosts) as nodes:
        for host in hosts:
            results = _measure(host, patterns, iterations, arguments.quick, nodes)
            sections.append((results, figures.draw_all(results, arguments.output / host.name)))
    for results, _ in sections:
        _report(console, results)
    page.write(arguments.output / "index.html", where, iterations, sections)
    (arguments.output / "results.json").write_text(
        json.dumps(
            {
                "machine": where,
                "iterations": iterations,
                "hosts": [results.as_json() for results, _ in sections],
            },
            indent=1,
        ),
        encoding="utf-8",
    )
    console.print(f"Figures and tables: {arguments.output / 'index.html'}", highlight=False)
    return 1 if any(results.failures for results, _ in sections) else 0
