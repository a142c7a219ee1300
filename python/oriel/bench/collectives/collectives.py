# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench collectives`: the persistent collectives besides alltoallv against the host's own
calls, by size and by ranks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from oriel.bench import outcome
from oriel.bench.collectives import collectives_figure, collectives_tables
from oriel.bench.collectives.collectives_times import VARIANTS, CollectivesTimes
from oriel.bench.requests.request_options import (
    QUICK_SIZES,
    TIMEOUT_S,
    lengths,
)
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

PROGRAM = "collectives"
SIZES = [8, 4 << 10, 256 << 10, 2 << 20]


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, PROGRAM)
    versions = setting.versions
    rounds, options = lengths(arguments)
    sizes = arguments.bytes or (QUICK_SIZES if arguments.quick else SIZES)
    times = CollectivesTimes()
    failures: list[str] = []
    all_ranks = list(dict.fromkeys(arguments.ranks))
    for ranks in all_ranks:

        def program(host: Host, way: str) -> Sequence[str]:
            asked = {"--call": arguments.calls, "--variant": VARIANTS[way], "--bytes": sizes}
            words = [word for name in asked for each in asked[name] for word in (name, str(each))]
            return [str(own_program(host, PROGRAM)), *options, *words]

        def read(host: str, way: str, output: str, ranks: int = ranks) -> int:
            return times.read(ranks, host, way, output)

        failures += play(setting.hosts, rounds, ranks, program, read, TIMEOUT_S, nodes, WITHOUT_UCX)
    lines = collectives_tables.lines(times)
    for host in times.hosts():
        console.print(collectives_tables.table(lines, host, versions[host]))
    console.print(collectives_tables.LEGEND, highlight=False)
    notes = [
        *collectives_tables.notes(lines, versions),
        *(note for ranks in all_ranks for note in setting.crowded(ranks)),
    ]
    place = setting.place(f"rounds: {rounds}")
    results = setting.results(times.as_json(), rounds=rounds, failed=times.failures_as_json())

    def draw(where: str, path: Path) -> None:
        collectives_figure.draw(times, versions, arguments.hosts, where, path)

    path = arguments.output / "collectives.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
