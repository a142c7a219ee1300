# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench cholesky`: a task-based Cholesky factorization, notified access against messages."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
from oriel.report.drawing import COLOURS

ONE_SIDED = "onesided"
# Beside the messages.
TITLES = {ONE_SIDED: "one-sided", NOTIFY: "notify"}

# How many times as fast as message passing, in "Notified Access: Extending Remote Memory Access
# Programming Models for Producer-Consumer Synchronization", Figure 5, by tiles of each rank.
PAPER = {NOTIFY: {1: 1.95}}


@dataclass
class CholeskyTimes(SpeedTimes):
    """Of a factorization on the slowest rank, by how many tiles each rank has. Operations are those
    in floating point."""

    case_name = "tiles_per_rank"

    orders: dict[int, int] = field(default_factory=dict)  # of the matrix
    residual: float = 0  # the largest of all

    def look_at(self, line: dict) -> None:
        tiles = line[self.case_name]
        self.orders[tiles] = line["order"]
        self.operations[tiles] = line["operations"]
        self.residual = max(self.residual, line["residual"])

    def as_json(self) -> list[dict]:
        return [{"order": self.orders[row[self.case_name]], **row} for row in super().as_json()]


def tiles_text(tiles: int) -> str:
    return f"{tiles} {'tile' if tiles == 1 else 'tiles'} per rank"


def _draw(
    by_ranks: Mapping[int, CholeskyTimes], versions: Mapping[str, str], where: str, path: Path
) -> None:
    """After Figure 5 of the paper: the speed of a factorization whose matrix grows with the
    number of ranks."""
    Curves(
        title="Cholesky factorization: speed of all ranks together (higher: faster)",
        cases={tiles: f"{tiles_text(tiles)}\nGFLOP/s" for tiles in lines.cases(by_ranks)},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={
            MESSAGES: notified_variants.STYLES[MESSAGES],
            ONE_SIDED: {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8},
            NOTIFY: notified_variants.STYLES[NOTIFY],
        },
        value=CholeskyTimes.rate,
        interval=CholeskyTimes.rate_interval,
        axis=curves.from_zero,
    ).draw(by_ranks, versions, where, path)


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
        draw=partial(_draw, by_ranks),
    ).run(arguments, console, nodes)
