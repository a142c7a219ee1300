# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench tree`: a reduction along a tree by notified access that counts, against messages,
other ways to tell a target that its data is there, and the host's MPI_Reduce."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants
from oriel.bench.comparison import Comparison
from oriel.bench.curves import Curves
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.variant_times import MESSAGES, VariantTimes
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import DASHES, MUTED
from oriel.report.units import size_text

REDUCE = "reduce"
# Beside the messages.
TITLES = {REDUCE: "MPI_Reduce", **notified_variants.TITLES}


@dataclass
class TreeTimes(VariantTimes):
    """Of a reduction, until the root has the sums, by the bytes of a contribution."""

    case_name = "bytes"


STYLES = {REDUCE: {"color": MUTED, "marker": "v", "linestyle": DASHES, "linewidth": 1.8}}


def _draw(
    by_ranks: Mapping[int, TreeTimes],
    arity: int,
    versions: Mapping[str, str],
    where: str,
    path: Path,
) -> None:
    """After Figure 4c of the paper: the time of a reduction over the number of ranks, for the
    smallest and the largest contribution."""
    sizes = lines.cases(by_ranks)
    Curves(
        title=f"Reduction along a tree of arity {arity} (lower: faster)",
        cases={size: f"{size_text(size)}: time (µs)" for size in (sizes[0], sizes[-1])},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={**STYLES, **notified_variants.STYLES},
        value=TreeTimes.median,
        interval=TreeTimes.interval,
        axis=drawing.logarithmic,
    ).draw(by_ranks, versions, where, path)


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
        draw=partial(_draw, by_ranks, arity),
    ).run(arguments, console, nodes)
