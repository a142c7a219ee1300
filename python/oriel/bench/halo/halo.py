# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench halo`: the exchange of ghost cells, epochs against point-to-point communication."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial

from rich.console import Console
from rich.table import Table

from oriel.bench import lines
from oriel.bench.comparison import Comparison
from oriel.bench.halo import halo_figure
from oriel.bench.halo.halo_times import PAPER, PAPER_TITLES, TITLES, HaloTimes
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.nodes import Nodes
from oriel.report.units import size_text

TIMEOUT_S = 300
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50")


def _ways(variant: str) -> tuple[str, ...]:
    """To a host alone the weak lock is its lock."""
    return (ORIEL,) if variant == "weak_lock" else (HOST, ORIEL)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    times = HaloTimes()
    by_ranks = {arguments.n: times}

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        for host in times.hosts():
            title = f"{versions[host]}: time of a step against its messages"
            rows = lines.by_ranks(by_ranks, size_text)
            yield ratio_table(rows, ("Ranks", "Size"), host, title, TIME, TITLES, _ways, PAPER)

    papers = "; ".join(f"{name}: {title}" for name, title in PAPER_TITLES.items())
    legend = (
        "Ratios are to the host's own messages: below 1 is less time. pscw: post, start, complete, "
        f"wait. {papers} (its Tables 1 and 2)."
    )
    return Comparison(
        name="halo",
        times=by_ranks,
        words=QUICK_OPTIONS if arguments.quick else ("--batches", str(arguments.batches)),
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=lambda: legend,
        shape=lambda: f"{' × '.join(str(extent) for extent in times.grid)} ranks",
        results=lambda: {"grid": times.grid, "paper": PAPER},
        draw=partial(halo_figure.draw, times),
    ).run(arguments, console, nodes)
