# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench lu`: an LU decomposition, nonblocking epochs against blocking ones and messages."""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, MUTED, STYLE, plt
from oriel.report.units import time_text

BLOCKING = "blocking"
EARLY = "early_complete"
NONBLOCKING = "nonblocking"
ISEND = "isend"
BCAST = "bcast"
TITLES = {
    BLOCKING: "blocking",
    EARLY: "early complete",
    NONBLOCKING: "nonblocking",
    ISEND: "isend",
    BCAST: "bcast",
}

# Time of nonblocking epochs against blocking ones of the same library, in "Nonblocking epochs in
# MPI one-sided communication", Figure 13 a and c, 64 to 128 processes: an improvement of 50 %.
PAPER = 0.5


class LuCase(NamedTuple):
    order: int  # of the matrix
    ranks: int


Key = tuple[str, LuCase, str, str]  # variant, case, host, way


@dataclass
class LuTimes:
    """Microseconds of a decomposition on the slowest rank, and shares from 0 to 1, means of all
    ranks: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    shares: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    # The largest of all, in units of ||A|| n eps.
    residual: float = 0  # of ||A - L U||
    difference: float = 0  # from LAPACK's factors

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            key = (line["variant"], LuCase(line["order"], line["ranks"]), host, way)
            self.runs[key].append(line["samples"])
            self.shares[key].append(line["shares"])
            self.residual = max(self.residual, line["residual"])
            self.difference = max(self.difference, line["difference"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def cases(self) -> list[LuCase]:
        return sorted({case for _, case, _, _ in self.runs})

    def orders(self) -> list[int]:
        return sorted({case.order for case in self.cases()})

    def median(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        return _median(self.runs.get((variant, case, host, way)))

    def share(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """The same of the share."""
        return _median(self.shares.get((variant, case, host, way)))

    def ratio(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """To the blocking epochs of the host alone: below 1 is less time."""
        return _ratio(
            self.median(variant, case, host, way), self.median(BLOCKING, case, host, HOST)
        )

    def gain(self, case: LuCase, host: str) -> float | None:
        """Oriel's nonblocking epochs to its blocking ones, which is what the paper compares."""
        return _ratio(
            self.median(NONBLOCKING, case, host, ORIEL), self.median(BLOCKING, case, host, ORIEL)
        )

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "order": case.order,
                "ranks": case.ranks,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, case, host, way),
                "ratio": self.ratio(variant, case, host, way),
                "share": self.share(variant, case, host, way),
                "runs": runs,
                "share_runs": self.shares[variant, case, host, way],
            }
            for (variant, case, host, way), runs in self.runs.items()
        ]


def _median(runs: list[list[float]] | None) -> float | None:
    return statistics.median(statistics.median(run) for run in runs) if runs else None


def _ratio(ours: float | None, others: float | None) -> float | None:
    return ours / others if ours and others else None


HOST_LINE = {"color": MUTED, "linewidth": 1.4, "markersize": 5}
ORIEL_LINE = {"color": COLOURS["blocking"], "linewidth": 1.8, "markersize": 5}
LINES = {
    (ISEND, HOST): HOST_LINE | {"marker": "x", "linestyle": ":"},
    (BCAST, HOST): HOST_LINE | {"marker": "+", "linestyle": ":"},
    (BLOCKING, HOST): HOST_LINE | {"marker": "s"},
    (EARLY, HOST): HOST_LINE | {"marker": "s", "linestyle": DASHES, "markerfacecolor": "white"},
    (BLOCKING, ORIEL): ORIEL_LINE | {"marker": "o"},
    (EARLY, ORIEL): ORIEL_LINE | {"marker": "o", "linestyle": DASHES, "markerfacecolor": "white"},
    (NONBLOCKING, ORIEL): ORIEL_LINE | {"color": COLOURS["nonblocking"], "marker": "o"},
}
WAY_LABELS = {HOST: "the host's own", ORIEL: "with Oriel"}


def _draw(times: LuTimes, versions: dict[str, str], where: str, path: Path) -> None:
    """After Figure 13 of the paper: for each order of the matrix the time, and the share of it
    that ranks spend in MPI calls, against the number of ranks. A row of panels per host, two
    panels per order."""
    hosts, orders = times.hosts(), times.orders()
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts),
            2 * len(orders),
            figsize=(max(9, 6.4 * len(orders)), 2.9 * len(hosts) + 1.4),
            layout="constrained",
            squeeze=False,
            sharex=True,
        )
        handles: dict[str, object] = {}
        for host, row in zip(hosts, grid):
            for index, order in enumerate(orders):
                time, share = row[2 * index : 2 * index + 2]
                handles |= _lines(time, times, order, host, times.median, 1e-3)
                _lines(share, times, order, host, times.share, 100)
                drawing.logarithmic(time)
                share.set_ylim(0, 100)
                time.set_title(f"{versions[host]}, order {order}", loc="left", fontsize=10)
                time.set_ylabel("time (ms)", fontsize=9)
                share.set_title(f"order {order}: share in MPI calls", loc="left", fontsize=10)
                share.set_ylabel("% of the time", fontsize=9)
        for axes in grid[-1]:
            axes.set_xlabel("ranks", fontsize=9)
        drawing.title(figure, "LU decomposition: time, and the share of it in MPI calls")
        drawing.legend(figure, handles.values(), handles.keys(), 4, where)
        drawing.save(figure, path)


def _lines(
    axes: Axes,
    times: LuTimes,
    order: int,
    host: str,
    height: Callable[..., float | None],
    scale: float,
) -> dict[str, object]:
    """Draws one panel; returns its lines by their labels."""
    handles = {}
    cases = [case for case in times.cases() if case.order == order]
    for (variant, way), style in LINES.items():
        points = [(case.ranks, height(variant, case, host, way)) for case in cases]
        points = [(ranks, scale * value) for ranks, value in points if value is not None]
        (line,) = axes.plot([x for x, _ in points], [y for _, y in points], clip_on=False, **style)
        handles[f"{TITLES[variant]}, {WAY_LABELS[way]}"] = line
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    ranks = [case.ranks for case in cases]
    axes.set_xticks(ranks, [str(number) for number in ranks], fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    return handles


TIMEOUT_S = 600  # hosts that spin take a scheduler's slice for each row where ranks share cores
QUICK_ORDERS = [33, 64]  # one of them is no multiple of any number of ranks
# Nonblocking epochs are Oriel's.
COLUMNS = (
    (ISEND, HOST),
    (BCAST, HOST),
    (EARLY, HOST),
    (BLOCKING, ORIEL),
    (EARLY, ORIEL),
    (NONBLOCKING, ORIEL),
)


def _table(
    times: LuTimes,
    host: str,
    title: str,
    first: str,
    cells: Callable[[LuCase], Sequence[str]],
    last: Sequence[str] = (),
) -> Table:
    """A row per case: the host's own blocking epochs, the other series, and columns of its own."""
    table = Table(title=title, title_justify="left")
    for name in ("Order", "Ranks", f"{TITLES[BLOCKING]}\n{first}"):
        table.add_column(name, justify="right")
    for variant, way in COLUMNS:
        table.add_column(f"{TITLES[variant]}\n{WAY_TITLES[way]}", justify="right")
    for name in last:
        table.add_column(name, justify="right")
    for case in times.cases():
        table.add_row(f"{case.order}", f"{case.ranks}", *cells(case))
    return table


def _time_table(times: LuTimes, host: str, version: str) -> Table:
    def cells(case: LuCase) -> Sequence[str]:
        own = times.median(BLOCKING, case, host, HOST)
        return [
            time_text(own / 1e3 if own else None),
            *(ratio_text(times.ratio(variant, case, host, way)) for variant, way in COLUMNS),
            ratio_text(times.gain(case, host)),
            ratio_text(PAPER),
        ]

    title = f"{version}: time of a decomposition against its own blocking epochs"
    last = ("nonblocking /\nblocking, Oriel", "the\npaper")
    return _table(times, host, title, "own (ms)", cells, last)


def _share_table(times: LuTimes, host: str, version: str) -> Table:
    def cells(case: LuCase) -> Sequence[str]:
        shares = [
            times.share(variant, case, host, way) for variant, way in ((BLOCKING, HOST), *COLUMNS)
        ]
        return ["–" if share is None else f"{100 * share:.0f} %" for share in shares]

    title = f"{version}: share of the time that ranks spend in MPI calls"
    return _table(times, host, title, "own", cells)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "lu")
    versions = setting.versions
    rounds = 1 if arguments.quick else arguments.rounds
    batches = 1 if arguments.quick else arguments.batches
    orders = QUICK_ORDERS if arguments.quick else arguments.orders
    words = ["--window", arguments.window, "--batches", str(batches)]
    for order in orders:
        words += ["--order", str(order)]
    times = LuTimes()

    def program(host: Host, way: str) -> Sequence[str]:
        return [str(own_program(host, "lu")), *words]

    failures = []
    for ranks in arguments.ranks:
        failures += play(
            setting.hosts, rounds, ranks, program, times.read, TIMEOUT_S, nodes, WITHOUT_UCX
        )
    for host in times.hosts():
        console.print(_time_table(times, host, versions[host]))
        console.print(_share_table(times, host, versions[host]))
    console.print(
        "Ratios are to the host's own blocking epochs: below 1 is less time. blocking: the owner "
        "of a row computes before it closes its access epoch; early complete: after that. The "
        "paper's ratio is from its Figure 13, 64 to 128 processes. All factors were checked; in "
        f"units of ||A|| n eps, ||A - L U|| was at most {times.residual:.2g}, the distance from "
        f"LAPACK's factors {times.difference:.2g}.",
        highlight=False,
    )
    notes = [sentence for ranks in arguments.ranks for sentence in setting.crowded(ranks)]
    place = setting.place(f"{arguments.window} window, rounds: {rounds}")
    results = setting.results(
        times.as_json(),
        window=arguments.window,
        rounds=rounds,
        residual=times.residual,
        difference=times.difference,
        paper=PAPER,
    )

    def draw(where: str, path: Path) -> None:
        _draw(times, versions, where, path)

    path = arguments.output / "lu.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
