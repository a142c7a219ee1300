# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench wavefront`: how long a row of the pipelined stencil takes, by the columns of each
rank, against the messages of the best host."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants, stencil
from oriel.bench.comparison import Comparison
from oriel.bench.notified_variants import NOTIFY
from oriel.bench.ratio_panels import RatioPanels
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.stencil import LIMIT
from oriel.bench.variant_times import MESSAGES, Case, VariantTimes
from oriel.bench.ways import HOST
from oriel.hosts.nodes import Nodes

# Beside the messages.
TITLES = {variant: stencil.TITLES[variant] for variant in ("post_start", "flag", NOTIFY, LIMIT)}


@dataclass
class WavefrontTimes(VariantTimes):
    """Of one row on the slowest rank, by the columns of each rank."""

    case_name = "columns_per_rank"

    def case(self, line: dict) -> Case:
        return line["columns"] // line["ranks"]

    def samples(self, line: dict) -> list[float]:
        computed = line["rows"] - 1  # row 0 is given
        return [us / computed for us in line["samples"]]

    def best_host(self, case: Case) -> str:
        """The host whose messages take the least time."""
        return min(
            self.hosts(), key=lambda host: self.median(MESSAGES, case, host, HOST) or math.inf
        )

    def baseline(self, case: Case, host: str) -> float | None:
        """The messages of the best host alone, on whichever host the variant ran."""
        return super().baseline(case, self.best_host(case))


def _draw(
    times: WavefrontTimes, ranks: int, versions: Mapping[str, str], where: str, path: Path
) -> None:
    """Each variant against the messages of the best host, over the columns of each rank."""
    RatioPanels(
        title=f"Pipelined stencil, {ranks} ranks: time of a row (below 1: less)",
        case_axis="columns of each rank",
        ratio_axis="time / the best host's messages",
        case_text=str,
        titles={MESSAGES: MESSAGES, **TITLES},
    ).draw(times, versions, where, path)


TIMEOUT_S = 300
QUICK_OPTIONS = {"--rows": 16, "--batches": 2, "--iterations": 1}
LEGEND = (
    "Ratios are to the messages of the best host alone, whichever that is in a row: below 1 is "
    "less time. pscw: post, start, complete, wait. flag: put, flush, and a flag that the target "
    "polls. notify: notified puts. limit: no communication."
)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    times = WavefrontTimes()
    by_ranks = {arguments.n: times}
    numbers = QUICK_OPTIONS if arguments.quick else _numbers(arguments)

    def tables(versions: Mapping[str, str]) -> Iterable[Table]:
        for host in times.hosts():
            yield ratio_table(
                lines.by_ranks(by_ranks, str),
                ("Ranks", "Columns\nper rank"),
                host,
                f"{versions[host]}, pipelined stencil: time of a row against the best host's "
                "messages",
                TIME,
                TITLES,
                notified_variants.ways,
                {},
            )

    chosen = [
        *numbers.items(),
        *(("--columns-per-rank", columns) for columns in arguments.columns_per_rank),
        *(("--variant", variant) for variant in (MESSAGES, *TITLES)),
    ]
    return Comparison(
        name="wavefront",
        program="stencil",
        times=by_ranks,
        words=[str(word) for option in chosen for word in option],
        timeout_s=TIMEOUT_S,
        tables=tables,
        legend=lambda: LEGEND,
        shape=lambda: f"{arguments.n} ranks, {numbers['--rows']:,} rows",
        results=lambda: {
            "rows_of_grid": numbers["--rows"],
            "best_hosts": {columns: times.best_host(columns) for columns in times.cases()},
        },
        draw=partial(_draw, times, arguments.n),
    ).run(arguments, console, nodes)


def _numbers(arguments: argparse.Namespace) -> dict[str, int]:
    return {
        "--rows": arguments.rows,
        "--batches": arguments.batches,
        "--iterations": arguments.iterations,
    }
