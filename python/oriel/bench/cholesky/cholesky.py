# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench cholesky`: a task-based Cholesky factorization, notified access against messages."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.cholesky import cholesky_figure
from oriel.bench.cholesky.cholesky_times import (
    MESSAGES,
    NOTIFY,
    ONE_SIDED,
    PAPER,
    TITLES,
    CholeskyTimes,
)
from oriel.bench.options import add_rounds, numbers, positive
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes

TIMEOUT_S = 300
MOST_RANKS = 16
TILES_PER_RANK = 16
# Notified access is Oriel's.
COLUMNS = (
    (MESSAGES, ORIEL, "Oriel"),
    (ONE_SIDED, HOST, "own"),
    (ONE_SIDED, ORIEL, "Oriel"),
    (NOTIFY, ORIEL, "Oriel"),
)
QUICK = {"--batches": 2, "--tiles-per-rank": 3, "--ring": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    most = min(max(2, len(os.sched_getaffinity(0))), MOST_RANKS)
    series = [2**power for power in range(1, most.bit_length())]
    parser.add_argument(
        "-n",
        "--ranks",
        type=numbers,
        default=series,
        metavar="RANKS",
        help="how many ranks, with commas between several numbers (default: 2 and doubled as long "
        f"as there are cores, {MOST_RANKS} at most; here {','.join(map(str, series))})",
    )
    add_rounds(parser, 5)
    parser.add_argument(
        "--batches",
        type=positive,
        default=31,
        metavar="B",
        help="how many factorizations a run measures each way (default: 31)",
    )
    parser.add_argument(
        "--tile",
        type=positive,
        default=32,
        metavar="EDGE",
        help="a tile has EDGE x EDGE doubles (default: 32, which makes 8 KB)",
    )
    parser.add_argument(
        "--tiles-per-rank",
        type=positive,
        default=TILES_PER_RANK,
        metavar="T",
        help=f"the matrix is the smallest with T tiles for each rank (default: {TILES_PER_RANK})",
    )
    parser.add_argument(
        "--window",
        choices=("allocated", "created"),
        default="allocated",
        help="others' tiles arrive in memory of MPI_Win_allocate, or in the program's own given to "
        "MPI_Win_create (default: allocated)",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _table(times: CholeskyTimes, versions: dict[str, str]) -> Table:
    table = Table(
        title="Cholesky factorization: speed, and how many times the messages'",
        title_justify="left",
    )
    table.add_column("MPI")
    for what in ("Ranks", "Order", "messages\nown (GFLOP/s)"):
        table.add_column(what, justify="right")
    for variant, _, way in COLUMNS:
        table.add_column(f"{TITLES[variant]}\n{way}", justify="right")
    for variant in PAPER:
        table.add_column(f"{TITLES[variant]}\nthe paper", justify="right")
    for host in times.hosts():
        for ranks in times.ranks():
            ratios = [times.ratio(variant, ranks, host, way) for variant, way, _ in COLUMNS]
            table.add_row(
                versions[host],
                str(ranks),
                str(times.orders[ranks]),
                _number(times.speed(MESSAGES, ranks, host, HOST)),
                *map(_number, [*ratios, *PAPER.values()]),
            )
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "cholesky")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    options = {
        "--window": arguments.window,
        "--tile": arguments.tile,
        "--tiles-per-rank": arguments.tiles_per_rank,
        "--batches": arguments.batches,
        **(QUICK if arguments.quick else {}),
    }
    words = [str(word) for option in options.items() for word in option]
    times = CholeskyTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "cholesky")), *words]

    failures = []
    for ranks in arguments.ranks:
        failures += play(setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes)
    console.print(_table(times, versions))
    console.print(
        "Ratios are to the host's own messages: above 1 is faster. The paper's is from its Figure "
        "5, on a Cray XC30. Every factor was checked; largest ||A - L L^T|| / (||A|| n eps): "
        f"{times.residual:.2g}.",
        highlight=False,
    )
    notes = [
        f"{ranks} ranks share {setting.machine['cores']} cores: the times include waits for a core."
        for ranks in arguments.ranks
        if ranks > setting.machine["cores"]
    ]
    place = setting.place(
        f"tiles of {arguments.tile} x {arguments.tile}, {options['--tiles-per-rank']} for each "
        f"rank, {arguments.window} window, rounds: {rounds}"
    )
    results = setting.results(
        times.as_json(),
        tile=arguments.tile,
        tiles_per_rank=options["--tiles-per-rank"],
        window=arguments.window,
        rounds=rounds,
        residual=times.residual,
        paper=PAPER,
    )

    def draw(where: str, path: Path) -> None:
        cholesky_figure.draw(times, versions, where, path)

    path = arguments.output / "cholesky.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
