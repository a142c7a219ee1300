# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench alltoallv`: persistent exchanges of all with all, by the algorithms of
ORIEL_Alltoallv_init against the host's own calls; uniform counts, by size and by
ranks, with weak and strong scaling."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import lines, outcome
from oriel.bench.alltoallv import (
    alltoallv_figures,
    alltoallv_scaling,
    alltoallv_tables,
    measured,
)
from oriel.bench.alltoallv.alltoallv_scaling import QUICK_TOTALS, TOTALS
from oriel.bench.alltoallv.alltoallv_times import (
    FENCE,
    LOCK,
    NOTIFIED,
    NOTIFIED_HIERARCHY,
    TWO_SIDED,
    AlltoallvTimes,
    variants,
)
from oriel.bench.alltoallv.measured import Exchange
from oriel.bench.requests import request_tables
from oriel.bench.requests.request_options import (
    QUICK_SIZES,
    TIMEOUT_S,
    lengths,
)
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.variant_times import rows_by_ranks
from oriel.bench.ways import ORIEL
from oriel.hosts.host import Host, HostError, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.units import size_text

SIZES = [8 * 4**power for power in range(10)]  # to 2 MB
FEW = 3  # every so many-th of them, for all numbers of ranks but the first


def _sizes(arguments: argparse.Namespace, first: bool) -> list[int]:
    if arguments.bytes:
        return arguments.bytes
    if arguments.quick:
        return QUICK_SIZES
    return SIZES if first else SIZES[::FEW]


def _totals(arguments: argparse.Namespace) -> list[int]:
    if arguments.totals or arguments.bytes:
        return arguments.totals or []
    return QUICK_TOTALS if arguments.quick else TOTALS


def _found(times: AlltoallvTimes, size: int, host: Host, *variants: str) -> list[float | None]:
    """Of exchanges, then of making their requests."""
    return [
        value(variant, size, host.name, ORIEL)
        for value in (times.median, times.making)
        for variant in variants
    ]


def measured_exchanges(
    by_ranks: dict[int, AlltoallvTimes], hosts: Sequence[Host], nodes: int
) -> list[Exchange]:
    """What auto chooses by: not the host's calls alone, but what would be carried out."""
    processor = measured.read().processor
    exchanges = []
    for ranks, times in by_ranks.items():
        for host in hosts:
            for size in times.cases():
                both = _found(times, size, host, NOTIFIED, TWO_SIDED)
                if None in both:
                    continue
                more = {}
                for variant in (NOTIFIED_HIERARCHY, FENCE, LOCK):
                    # With one node, or a rank on each, nothing is gathered.
                    if variant == NOTIFIED_HIERARCHY and not 1 < nodes < ranks:
                        continue
                    start, making = _found(times, size, host, variant)
                    if start is not None and making is not None:
                        more |= {variant: start, f"{variant}_making": making}
                key = (processor, measured.mpi_name(host), ranks, nodes, size)
                exchanges.append(Exchange(*key, *both, **more))
    return exchanges


def keep_for_auto(
    by_ranks: dict[int, AlltoallvTimes], hosts: Sequence[Host], nodes: int
) -> list[str]:
    """For `auto`. Says so, or why not: the results do not depend on it."""
    try:
        exchanges = measured_exchanges(by_ranks, hosts, nodes)
        return [measured.keep(exchanges)] if exchanges else []
    except HostError as error:
        return [f"The times are not kept for auto: {error}"]


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "alltoallv")
    versions = setting.versions
    rounds, options = lengths(arguments)
    totals = _totals(arguments)
    by_ranks: dict[int, AlltoallvTimes] = {}
    failures: list[str] = []
    for ranks in dict.fromkeys(arguments.ranks):
        sizes = {
            *_sizes(arguments, first=not by_ranks),
            *alltoallv_scaling.sizes(totals, ranks),
        }
        words = [*options, *(word for size in sorted(sizes) for word in ("--bytes", str(size)))]
        times = by_ranks[ranks] = AlltoallvTimes()

        def program(host: Host, way: str, words: Sequence[str] = words) -> Sequence[str]:
            return [str(own_program(host, "alltoallv")), *variants(way), *words]

        failures += play(
            setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes, WITHOUT_UCX
        )
    rows = lines.by_ranks(by_ranks, size_text)
    strong = alltoallv_scaling.lines(totals, by_ranks)
    for host in request_tables.hosts(rows):
        for table in (alltoallv_tables.exchanges, alltoallv_tables.making):
            console.print(table(rows, ("Ranks", "Size"), host, versions[host]))
        if strong:
            title = f"{versions[host]}, strong scaling"
            console.print(
                alltoallv_tables.exchanges(strong, ("Total", "Ranks", "Size"), host, title)
            )
    console.print(
        f"{alltoallv_tables.LEGEND} Each rank sends so much to each, itself included. Total: of "
        "all ranks together.",
        highlight=False,
    )
    notes = [
        *alltoallv_tables.notes(rows, versions),
        *alltoallv_tables.against_paper(rows, versions),
        *(note for ranks in by_ranks for note in setting.crowded(ranks)),
    ]
    if not arguments.quick and not failures:  # quick times are nothing to go by
        notes += keep_for_auto(by_ranks, setting.hosts, arguments.hosts)
    place = setting.place(f"rounds: {rounds}")
    failed = [
        {"ranks": ranks, **row} for ranks in by_ranks for row in by_ranks[ranks].failures_as_json()
    ]
    results = setting.results(rows_by_ranks(by_ranks), rounds=rounds, totals=totals, failed=failed)

    def draw(where: str, path: Path) -> None:
        alltoallv_figures.draw(by_ranks, totals, versions, arguments.hosts, where, path.parent)

    path = arguments.output / "alltoallv.png"
    figures = [f"{name}.png" for name in alltoallv_figures.NAMES]
    return outcome.report(console, notes, failures, place, results, path, draw, figures)
