# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench pending`: very many pending nonblocking epochs in one process."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

from oriel.hosts import job
from oriel.hosts.host import choose_hosts, own_program
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 180
QUICK_PENDING = 1000


def run(arguments: argparse.Namespace, console: Console, _: Nodes | None) -> int:
    hosts = choose_hosts(arguments.mpi)
    epochs = QUICK_PENDING if arguments.quick else arguments.pending
    table = Table(title=f"{epochs:,} pending lock epochs", title_justify="left")
    table.add_column("MPI")
    for title in ("Turn", "Open (s)", "Complete (s)", "Grown (MB)", "Bytes per epoch"):
        table.add_column(title, justify="right")
    failures = []
    for host in hosts:
        program = [str(own_program(host, "pending")), "--pending", str(epochs)]
        output, failure = job.run(*host.command(2, program), TIMEOUT_S)
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            turn = json.loads(line)
            table.add_row(
                host.title,
                str(turn["turn"]),
                f"{turn['open_s']:.3f}",
                f"{turn['complete_s']:.3f}",
                f"{(turn['pending_kb'] - turn['before_kb']) / 1024:.1f}",
                f"{turn['grown_bytes_per_epoch']:.0f}",
            )
        if failure:
            failures.append(f"{host.title}: the run failed, {failure}.")
    console.print(table)
    for failure in failures:
        console.print(f"- {failure}", highlight=False, markup=False)
    return 1 if failures else 0
