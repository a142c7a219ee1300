# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench halo`: the exchange of ghost cells, epochs against point-to-point communication."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import lines
from oriel.bench.comparison import Comparison
from oriel.bench.ratio_panels import PaperLine, RatioPanels
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.variant_times import VariantTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.nodes import Nodes
from oriel.report.drawing import COLOURS, MUTED
from oriel.report.units import size_text

TITLES = {"fence": "fence", "post_start": "pscw", "lock": "lock", "weak_lock": "weak lock"}

# MPICH2's ratios in "Minimizing synchronization overhead in the implementation of MPI one-sided
# communication", Tables 1 and 2, by bytes of a message.
PAPER_SIZES = (16, 64, 256, 1 << 10, 16 << 10, 64 << 10, 256 << 10)
PAPER = {
    "cluster": {
        "fence": dict(zip(PAPER_SIZES, (3.5, 3.28, 2.35, 1.59, 1.08, 0.85, 1.22))),
        "post_start": dict(zip(PAPER_SIZES, (2.03, 1.94, 1.60, 1.39, 1.05, 0.78, 1.08))),
    },
    "SMP": {
        "fence": dict(zip(PAPER_SIZES, (3.4, 2.94, 3.0, 2.43, 0.99, 1.13, 0.99))),
        "post_start": dict(zip(PAPER_SIZES, (2.45, 2.47, 2.55, 2.06, 0.82, 1.06, 1.01))),
        "lock": dict(zip(PAPER_SIZES, (2.24, 2.30, 2.38, 1.92, 0.79, 0.77, 0.94))),
    },
}
PAPER_TITLES = {
    "cluster": "the paper's MPICH2, Linux cluster",
    "SMP": "the paper's MPICH2, Sun SMP",
}


@dataclass
class HaloTimes(VariantTimes):
    """Of a step on the slowest rank, by the bytes of a message."""

    case_name = "bytes"

    grid: tuple[int, ...] = ()  # ranks in each dimension

    def look_at(self, line: dict) -> None:
        self.grid = tuple(line["grid"])


PAPER_STYLES = {
    "cluster": {"color": MUTED, "linewidth": 1, "linestyle": ":"},
    "SMP": {"color": COLOURS["blocking"], "linewidth": 1, "linestyle": "--"},
}


def _draw(times: HaloTimes, versions: Mapping[str, str], where: str, path: Path) -> None:
    """Each kind of epoch against messages, over the size."""
    ranks = " × ".join(str(extent) for extent in times.grid)
    title = f"Exchange of ghost cells, {ranks} ranks: time against point-to-point (below 1: less)"
    RatioPanels(
        title=title,
        case_axis="size of a message",
        ratio_axis="time / the host's messages",
        case_text=size_text,
        titles=TITLES,
        papers={
            PAPER_TITLES[paper]: PaperLine(PAPER[paper], style)
            for paper, style in PAPER_STYLES.items()
        },
    ).draw(times, versions, where, path)


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
        draw=partial(_draw, times),
    ).run(arguments, console, nodes)
