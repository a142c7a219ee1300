# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench transactions`: unstructured atomic updates, each in a lock epoch of its own."""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.rounds import play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, STYLE, plt
from oriel.report.units import ratio_text

BLOCKING = "blocking"
NONBLOCKING = "nonblocking"
REORDERED = "reordered"
TITLES = {BLOCKING: "blocking", NONBLOCKING: "nonblocking", REORDERED: "A_A_A_R"}

# How many times the transactions of the blocking epochs, by ranks: "Nonblocking Epochs in MPI
# One-Sided Communication", section VIII-B and Figure 12. The last one met a limit of the paper's
# flow control, which Oriel does not have.
PAPER = {64: 1.39, 128: 1.20, 256: 1.16, 512: 1.02}

Key = tuple[str, int, int, str, str]  # variant, ranks, microseconds of computation, host, way


@dataclass
class TransactionsTimes:
    """Microseconds of a transaction on the slowest rank: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            key = (line["variant"], line["ranks"], line["compute_us"], host, way)
            self.runs[key].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, _, host, _ in self.runs))

    def ranks(self) -> list[int]:
        return sorted({ranks for _, ranks, _, _, _ in self.runs})

    def computations(self) -> list[int]:
        return sorted({compute_us for _, _, compute_us, _, _ in self.runs})

    def median(
        self, variant: str, ranks: int, compute_us: int, host: str, way: str
    ) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((variant, ranks, compute_us, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def rate(self, variant: str, ranks: int, compute_us: int, host: str, way: str) -> float | None:
        """Transactions of all ranks together in a second."""
        us = self.median(variant, ranks, compute_us, host, way)
        return 1e6 * ranks / us if us else None

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "ranks": ranks,
                "compute_us": compute_us,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, ranks, compute_us, host, way),
                "per_second": self.rate(variant, ranks, compute_us, host, way),
                "runs": runs,
            }
            for (variant, ranks, compute_us, host, way), runs in self.runs.items()
        ]


LINES = {
    (BLOCKING, HOST): (
        "the host's own",
        {"color": COLOURS["host"], "marker": "s", "linewidth": 3, "markersize": 6},
    ),
    (BLOCKING, ORIEL): (
        "Oriel, blocking",
        {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8, "markersize": 6},
    ),
    (NONBLOCKING, ORIEL): (
        "Oriel, nonblocking",
        {"color": COLOURS["nonblocking"], "marker": "o", "linestyle": DASHES, "markersize": 5},
    ),
    (REORDERED, ORIEL): (
        "Oriel, nonblocking with A_A_A_R",
        {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 1.8, "markersize": 5},
    ),
}


def _draw(times: TransactionsTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """After Figure 12 of the paper: transactions per second over the number of ranks, a panel
    per host and length of the computation."""
    hosts = times.hosts()
    computations = times.computations()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(computations),
            len(hosts),
            figsize=(max(9, 3.6 * len(hosts) + 1), 2.9 * len(computations) + 1.4),
            layout="constrained",
            squeeze=False,
            sharex=True,
            sharey="row",
        )
        handles: dict[str, object] = {}
        for compute_us, row in zip(computations, grid):
            for host, axes in zip(hosts, row):
                handles |= _lines(axes, times, compute_us, host)
                computing = f"{compute_us} µs of computation" if compute_us else "back to back"
                axes.set_title(f"{versions[host]}, {computing}", loc="left", fontsize=10)
            row[0].set_ylabel("transactions per second", fontsize=9)
        for axes in grid[-1]:
            axes.set_xlabel("ranks", fontsize=9)
        drawing.title(figure, "Updates in exclusive lock epochs: transactions of all ranks")
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _lines(axes: Axes, times: TransactionsTimes, compute_us: int, host: str) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    for (variant, way), (label, style) in LINES.items():
        points = [
            (ranks, times.rate(variant, ranks, compute_us, host, way)) for ranks in times.ranks()
        ]
        points = [point for point in points if point[1]]
        if points:
            (handles[label],) = axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    axes.set_xticks(times.ranks(), [str(ranks) for ranks in times.ranks()], fontsize=9)
    axes.minorticks_off()
    axes.set_yscale("log")
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles


TIMEOUT_S = 600
COLUMNS = ((BLOCKING, HOST, "own"), *((variant, ORIEL, "Oriel") for variant in TITLES))
QUICK = {"--batches": 2, "--batch-us": 200, "--limit-s": 1}
LEGEND = (
    "Transactions per second of all ranks together: an exclusive lock, an accumulate on one word, "
    "an unlock. Every word was compared with the sum of its updates. The paper's A_A_A_R / "
    "blocking (its Figure 12), on its cluster: "
    + ", ".join(f"{ratio:.2f} on {ranks} ranks" for ranks, ratio in PAPER.items())
    + "."
)


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _table(times: TransactionsTimes, host: str, version: str) -> Table:
    table = Table(title=f"{version}: transactions per second", title_justify="left")
    for what in ("Ranks", "computing\n(µs)"):
        table.add_column(what, justify="right")
    for variant, _, way in COLUMNS:
        table.add_column(f"{TITLES[variant]}\n{way}", justify="right")
    table.add_column("blocking\n/ own", justify="right")
    table.add_column("A_A_A_R\n/ blocking", justify="right")
    for compute_us in times.computations():
        for ranks in times.ranks():
            rates = {
                (variant, way): times.rate(variant, ranks, compute_us, host, way)
                for variant, way, _ in COLUMNS
            }
            blocking = rates[BLOCKING, ORIEL]
            table.add_row(
                str(ranks),
                str(compute_us),
                *map(_rate, rates.values()),
                ratio_text(blocking, rates[BLOCKING, HOST]),
                ratio_text(rates[REORDERED, ORIEL], blocking),
            )
    return table


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "transactions")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    options = {
        "--window": arguments.window,
        "--words": arguments.words,
        "--batches": arguments.batches,
        **(QUICK if arguments.quick else {}),
    }
    words = [str(word) for option in options.items() for word in option]
    for compute_us in arguments.compute_us:
        words += ["--compute-us", str(compute_us)]
    times = TransactionsTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "transactions")), *words]

    failures = []
    for ranks in arguments.ranks:
        failures += play(setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes)
    for host in times.hosts():
        console.print(_table(times, host, versions[host]))
    console.print(LEGEND, highlight=False)
    notes = [note for ranks in arguments.ranks for note in setting.crowded(ranks)]
    place = setting.place(
        f"{arguments.words} words for each rank, {arguments.window} window, rounds: {rounds}"
    )
    results = setting.results(
        times.as_json(), words=arguments.words, window=arguments.window, rounds=rounds, paper=PAPER
    )

    def draw(where: str, path: Path) -> None:
        _draw(times, versions, where, path)

    path = arguments.output / "transactions.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
