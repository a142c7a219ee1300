# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench wavefront`: how long a row of the pipelined stencil takes, by the columns of each
rank, against the messages of the best host."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial

from rich.console import Console
from rich.table import Table

from oriel.bench import lines, notified_variants
from oriel.bench.comparison import Comparison
from oriel.bench.ratio_table import TIME, ratio_table
from oriel.bench.variant_times import MESSAGES
from oriel.bench.wavefront import wavefront_figure
from oriel.bench.wavefront.wavefront_times import TITLES, WavefrontTimes
from oriel.hosts.nodes import Nodes

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
        draw=partial(wavefront_figure.draw, times, arguments.n),
    ).run(arguments, console, nodes)


def _numbers(arguments: argparse.Namespace) -> dict[str, int]:
    return {
        "--rows": arguments.rows,
        "--batches": arguments.batches,
        "--iterations": arguments.iterations,
    }
