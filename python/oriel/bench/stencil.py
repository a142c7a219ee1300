# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench stencil`: a pipelined stencil by notified access, against messages and other ways to
tell a target that its data is there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import curves, lines, notified_variants
from oriel.bench.comparison import Comparison
from oriel.bench.curves import Curves
from oriel.bench.notified_variants import NOTIFY
from oriel.bench.ratio_table import ratio_table, speed
from oriel.bench.speed_times import SpeedTimes
from oriel.bench.variant_times import MESSAGES
from oriel.hosts.nodes import Nodes
from oriel.report.drawing import MUTED

LIMIT = "limit"
# Beside the messages.
TITLES = {LIMIT: "limit", **notified_variants.TITLES}

# Speed of notified access against message passing in "Notified Access: Extending Remote Memory
# Access Programming Models for Producer-Consumer Synchronization": section VI-A (Figure 4b) and
# section I (Figure 1, 32 processes). Both are what it exceeds.
PAPER = {NOTIFY: {"weak": 2.17, "strong": 1.4}}


@dataclass
class StencilTimes(SpeedTimes):
    """Of an iteration on the slowest rank, by what stays the same with more ranks: the columns of
    each (weak scaling) or of all (strong scaling). Operations are accesses to memory."""

    case_name = "scaling"

    domains: dict[str, tuple[int, int]] = field(default_factory=dict)  # rows and columns in all

    def look_at(self, line: dict) -> None:
        self.domains[line["scaling"]] = (line["rows"], line["columns"])
        self.operations[line["scaling"]] = line["accesses"]


STYLES = {LIMIT: {"color": MUTED, "linewidth": 1, "linestyle": ":", "marker": "."}}


def _draw(
    by_ranks: Mapping[int, StencilTimes], versions: Mapping[str, str], where: str, path: Path
) -> None:
    """After Figures 1 and 4b of the paper: the speed of each variant over the number of
    ranks."""
    Curves(
        title="Pipelined stencil: speed of all ranks together (higher: faster)",
        cases={scaling: f"{scaling} scaling\nGMOPS" for scaling in lines.cases(by_ranks)},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={**STYLES, **notified_variants.STYLES},
        value=StencilTimes.rate,
        interval=StencilTimes.rate_interval,
        axis=curves.from_zero,
    ).draw(by_ranks, versions, where, path)


TIMEOUT_S = 600
QUICK_OPTIONS = {
    "--rows": 16,
    "--columns-per-rank": 32,
    "--columns": 256,
    "--batches": 2,
    "--iterations": 1,
}


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    numbers = QUICK_OPTIONS if arguments.quick else _numbers(arguments)
    by_ranks = {ranks: StencilTimes() for ranks in arguments.ranks}
    rows, each, all_together = (
        numbers[option] for option in ("--rows", "--columns-per-rank", "--columns")
    )
    texts = {
        "weak": f"weak scaling: {rows:,} × {each:,} for each rank",
        "strong": f"strong scaling: {rows:,} × {all_together:,}",
    }

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        for host in lines.hosts(by_ranks):
            yield ratio_table(
                lines.by_case(by_ranks, str),
                ("Scaling", "Ranks"),
                host,
                f"{versions[host]}, pipelined stencil: speed, and how many times the messages'",
                speed("GMOPS"),
                TITLES,
                notified_variants.ways,
                {"paper": PAPER},
            )

    legend = (
        f"{'; '.join(texts.values())} points. GMOPS: billions of memory accesses per second, four "
        "for each point. Ratios are to the host's own messages: above 1 is faster. limit: no "
        f"communication. {notified_variants.LEGEND} The paper's notified access is faster than its "
        "messages by more than these factors, the second one on 32 processes."
    )
    return Comparison(
        name="stencil",
        times=by_ranks,
        words=[str(word) for option in numbers.items() for word in option],
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=lambda: legend,
        shape=lambda: "; ".join(texts.values()),
        results=lambda: {
            "domains": {ranks: times.domains for ranks, times in by_ranks.items()},
            "paper": PAPER,
        },
        draw=partial(_draw, by_ranks),
    ).run(arguments, console, nodes)


def _numbers(arguments: argparse.Namespace) -> dict[str, int]:
    return {
        "--rows": arguments.rows,
        "--columns-per-rank": arguments.columns_per_rank,
        "--columns": arguments.columns,
        "--batches": arguments.batches,
        "--iterations": arguments.iterations,
        "--limit-s": arguments.limit_s,
    }
