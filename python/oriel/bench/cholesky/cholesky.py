# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench cholesky`: a task-based Cholesky factorization, notified access against messages."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants
from oriel.bench.cholesky import cholesky_figure
from oriel.bench.cholesky.cholesky_times import PAPER, TITLES, CholeskyTimes
from oriel.bench.comparison import Comparison
from oriel.bench.ratio_table import ratio_table, speed
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 300
QUICK_OPTIONS = {"--batches": 2, "--ring": 1}
QUICK_TILES_PER_RANK = [1, 3]


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    by_ranks = {ranks: CholeskyTimes() for ranks in arguments.ranks}
    options = QUICK_OPTIONS if arguments.quick else {"--batches": arguments.batches}
    tiles = QUICK_TILES_PER_RANK if arguments.quick else arguments.tiles_per_rank
    words = [("--tile", arguments.tile), *options.items()]
    words += [("--tiles-per-rank", each) for each in tiles]

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        rows = [
            replace(line, labels=(*line.labels, str(line.times.orders[line.case])))
            for line in lines.by_case(by_ranks, str)
        ]
        for host in lines.hosts(by_ranks):
            yield ratio_table(
                rows,
                ("Tiles\nper rank", "Ranks", "Order"),
                host,
                f"{versions[host]}, Cholesky factorization: speed, and how many times the "
                "messages'",
                speed("GFLOP/s"),
                TITLES,
                notified_variants.ways,
                {"paper": PAPER},
            )

    def residual() -> float:
        return max(times.residual for times in by_ranks.values())

    def legend() -> str:
        return (
            "Ratios are to the host's own messages: above 1 is faster. The paper's is from its "
            "Figure 5, on a Cray XC30. Every factor was checked; largest ||A - L L^T|| / (||A|| n "
            f"eps): {residual():.2g}."
        )

    return Comparison(
        name="cholesky",
        times=by_ranks,
        words=[str(word) for option in words for word in option],
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=legend,
        shape=lambda: f"tiles of {arguments.tile} x {arguments.tile}",
        results=lambda: {"tile": arguments.tile, "residual": residual(), "paper": PAPER},
        draw=partial(cholesky_figure.draw, by_ranks),
    ).run(arguments, console, nodes)
