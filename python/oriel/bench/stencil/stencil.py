# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench stencil`: a pipelined stencil by notified access, against messages and other ways to
tell a target that its data is there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants
from oriel.bench.comparison import Comparison
from oriel.bench.ratio_table import ratio_table, speed
from oriel.bench.stencil import stencil_figure
from oriel.bench.stencil.stencil_times import PAPER, TITLES, StencilTimes
from oriel.hosts.nodes import Nodes

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
        draw=partial(stencil_figure.draw, by_ranks),
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
