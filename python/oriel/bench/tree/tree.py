# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench tree`: a reduction along a tree by notified access that counts, against messages,
other ways to tell a target that its data is there, and the host's MPI_Reduce."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table

from oriel.bench import options
from oriel.bench.comparison import Comparison
from oriel.bench.size_table import size_table
from oriel.bench.tree import tree_figure
from oriel.bench.tree.tree_times import TITLES, TreeTimes
from oriel.bench.ways import HOST, ORIEL
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
    times = TreeTimes()

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        for host in times.hosts():
            shape = times.shape_text()
            title = f"{versions[host]}, {shape}: time of a reduction against its messages"
            yield size_table(times, host, title, TITLES, _ways, {})

    lengths = QUICK_OPTIONS if arguments.quick else ("--batches", str(arguments.batches))
    legend = (
        "Ratios are to the host's own messages along the same tree: below 1 is less time. "
        "MPI_Reduce has whatever shape the host gives it. pscw: post, start, complete, wait."
    )
    return Comparison(
        name="tree",
        times=times,
        words=["--arity", str(arguments.arity), *lengths],
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=lambda: legend,
        shape=times.shape_text,
        results=lambda: {"ranks": arguments.n, "arity": arguments.arity},
        draw=tree_figure.draw,
    ).run(arguments, console, nodes)
