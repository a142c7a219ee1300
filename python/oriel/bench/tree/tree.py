# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench tree`: a reduction along a tree by notified access that counts, against messages,
other ways to tell a target that its data is there, and the host's MPI_Reduce."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants
from oriel.bench.comparison import Comparison
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.tree import tree_figure
from oriel.bench.tree.tree_times import TITLES, TreeTimes
from oriel.hosts.nodes import Nodes
from oriel.report.units import size_text

TIMEOUT_S = 600
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    by_ranks = {ranks: TreeTimes() for ranks in arguments.ranks}
    arity = arguments.arity

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        for host in lines.hosts(by_ranks):
            yield ratio_table(
                lines.by_case(by_ranks, size_text),
                ("Size", "Ranks"),
                host,
                f"{versions[host]}, tree of arity {arity}: time of a reduction against its "
                "messages",
                TIME,
                TITLES,
                notified_variants.ways,
                {},
            )

    lengths = QUICK_OPTIONS if arguments.quick else ("--batches", str(arguments.batches))
    legend = (
        "Ratios are to the host's own messages along the same tree: below 1 is less time. "
        f"MPI_Reduce has whatever shape the host gives it. {notified_variants.LEGEND}"
    )
    return Comparison(
        name="tree",
        times=by_ranks,
        words=["--arity", str(arity), *lengths],
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=lambda: legend,
        shape=lambda: f"a tree of arity {arity}",
        results=lambda: {"arity": arity},
        draw=partial(tree_figure.draw, by_ranks, arity),
    ).run(arguments, console, nodes)
