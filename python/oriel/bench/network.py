# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench network`: calls between two nodes, to a target that waits and to one that computes;
with --card also on a stand-in for a network card, beside what the card alone takes."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.rounds import FORMS, Form, play
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, choose_hosts, own_program
from oriel.hosts.mpi_kinds import INTEL
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, STYLE, plt
from oriel.report.units import ratio_text, size_text

RANKS = 2
SIZES = (8, 512, 4096, 32 << 10, 256 << 10, 4 << 20)
QUICK_SIZES = (8, 4096)
ROW_MS = 200
QUICK_ROW_MS = 5
TIMEOUT_S = 300
WAITS = "waits"
COMPUTES = "computes"
MESSAGE = "message"
NOTIFIED = "notified put"
CARD = "card"
TCP = "tcp"
# By the card's names (tests/mpi/support/card/times.cpp).
OF_CARD = {
    "put": "put + flush",
    "get": "get + flush",
    "fetch_and_op": "fetch_and_op + flush",
}
WAY_COLOURS = {HOST: COLOURS["host"], ORIEL: COLOURS["nonblocking"]}
CARD_COLOUR = COLOURS["blocking"]


@dataclass(frozen=True)
class NetworkRow:
    operation: str
    bytes: int
    target: str


@dataclass
class NetworkTimes:
    """Microseconds on one network: of each run the median of its samples."""

    runs: dict[tuple[NetworkRow, str, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    card: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    model: dict[tuple[str, int], float] = field(default_factory=dict)
    wrong: dict[str, None] = field(default_factory=dict)  # sentences, in order

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many times there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        times = [line for line in lines if "time" in line]
        for line in times:
            row = NetworkRow(line["time"], line["bytes"], line["target"])
            self.runs[row, host, way].append(line["us"])
        for line in lines:
            if not line.get("right", True):
                self.wrong[f"{host}, {way}: wrong data by {line['check']}."] = None
        return len(times)

    def read_card(self, output: str) -> None:
        for line in map(json.loads, output.splitlines()):
            key = (OF_CARD[line["time"]], line["bytes"])
            self.card[key].append(line["us"])
            self.model[key] = line["model_us"]

    def rows(self) -> list[NetworkRow]:
        rows = dict.fromkeys(row for row, _, _ in self.runs)
        operations = list(dict.fromkeys(row.operation for row in rows))
        return sorted(
            rows, key=lambda row: (operations.index(row.operation), row.target != WAITS, row.bytes)
        )

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, host, _ in self.runs))

    def median(self, row: NetworkRow, host: str, way: str) -> float | None:
        runs = self.runs.get((row, host, way))
        return statistics.median(runs) if runs else None

    def of_host(self, row: NetworkRow, host: str) -> float | None:
        """The host's own time; of a notified put, which it does not have, that of its message."""
        if row.operation == NOTIFIED:
            row = NetworkRow(MESSAGE, row.bytes, row.target)
        return self.median(row, host, HOST)

    def of_card(self, row: NetworkRow) -> float | None:
        runs = self.card.get((row.operation, row.bytes))
        return statistics.median(runs) if runs else None

    def as_json(self) -> list[dict]:
        return [
            {
                "operation": row.operation,
                "bytes": row.bytes,
                "target": row.target,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(row, host, way),
                "runs": runs,
            }
            for (row, host, way), runs in self.runs.items()
        ]

    def card_as_json(self) -> list[dict]:
        return [
            {
                "operation": operation,
                "bytes": size,
                "unit": "us",
                "median": statistics.median(runs),
                "model": self.model[operation, size],
            }
            for (operation, size), runs in self.card.items()
        ]


def _variables(card: Path) -> dict[str, str]:
    """The environment variables by which the MPI library and Oriel use the card."""
    return {
        "LD_LIBRARY_PATH": str(card),
        "ORIEL_OFI_LIBRARY": str(card / "libfabric.so.1"),
        # MPICH, and Open MPI: messages and one-sided calls over libfabric.
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "OMPI_MCA_pml": "cm",
        "OMPI_MCA_mtl": "ofi",
        "OMPI_MCA_osc": "rdma",
        "OMPI_MCA_btl": "ofi,self",
    }


def _networks(card: Path | None) -> dict[str, dict[str, str]]:
    """The classes of networks to be measured, with the environment variables of their runs."""
    chosen: dict[str, dict[str, str]] = {os.environ.get("ORIEL_OFI_PROVIDER") or TCP: {}}
    return chosen if card is None else {CARD: _variables(card), **chosen}


def _forms(networks: Mapping[str, Mapping[str, str]]) -> dict[str, Form]:
    """How the program is started: each way, on each network."""

    def form(network: str, of: Form) -> Form:
        title = f"{of.title}, on {network}"
        return Form(title, of.preload, lambda: nullcontext(networks[network]))

    return {f"{way} {network}": form(network, FORMS[way]) for network in networks for way in FORMS}


def _measure_card(card: Path, sizes: Iterable[int]) -> str:
    words = [str(card / "times"), *map(str, sizes)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout


def _time(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _table(times: NetworkTimes, host: str, title: str) -> Table:
    table = Table(title=f"{title}: µs, medians", title_justify="left")
    table.add_column("Operation")
    headings = ["Bytes", "Target", "own", "Oriel", "Oriel / own"]
    if times.card:
        headings += ["card", "Oriel / card"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in times.rows():
        ours = times.median(row, host, ORIEL)
        own = times.of_host(row, host)
        cells = [_time(own), _time(ours), ratio_text(ours, own)]
        if times.card:
            cells += [_time(times.of_card(row)), ratio_text(ours, times.of_card(row))]
        table.add_row(row.operation, size_text(row.bytes), row.target, *cells)
    return table


def _curves(axes: Axes, times: NetworkTimes, host: str, operation: str) -> dict[str, object]:
    """Draws one operation's times over its lengths; returns the lines by their labels."""
    handles = {}
    rows = [row for row in times.rows() if row.operation == operation]
    lines = [
        (f"{'the host alone' if way == HOST else 'Oriel'}, target {target}", way, target)
        for way in (HOST, ORIEL)
        for target in (WAITS, COMPUTES)
    ]
    for label, way, target in lines:
        of = times.of_host if way == HOST else lambda row, host: times.median(row, host, ORIEL)
        points = [(row.bytes, of(row, host)) for row in rows if row.target == target]
        points = [point for point in points if point[1]]
        if points:
            style = "-" if target == WAITS else DASHES
            (handles[label],) = axes.plot(
                *zip(*points), color=WAY_COLOURS[way], linestyle=style, marker="o", markersize=3
            )
    points = [(row.bytes, times.of_card(row)) for row in rows if row.target == WAITS]
    if points and points[0][1]:
        (handles["the card alone"],) = axes.plot(
            *zip(*points), color=CARD_COLOUR, linewidth=0.8, marker="_"
        )
    axes.set_xscale("log", base=2)
    drawing.logarithmic(axes)
    sizes = sorted({row.bytes for row in rows})
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=7, rotation=40)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_title(operation, loc="left", fontsize=9)
    return handles


def _draw(
    networks: Mapping[str, NetworkTimes], versions: dict[str, str], where: str, path: Path
) -> None:
    rows = [row for times in networks.values() for row in times.rows()]
    operations = list(dict.fromkeys(row.operation for row in rows))
    operations.remove(MESSAGE)  # the notified put's panel has the host's
    lines = [(host, name) for name, times in networks.items() for host in times.hosts()]
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(lines),
            len(operations),
            figsize=(2.6 * len(operations), 1.2 + 2.6 * len(lines)),
            layout="constrained",
            squeeze=False,
        )
        handles: dict[str, object] = {}
        for (host, name), line in zip(lines, grid):
            for operation, axes in zip(operations, line):
                handles |= _curves(axes, networks[name], host, operation)
            line[0].set_ylabel(f"{versions[host]}, {name} (µs)", fontsize=9)
        drawing.title(figure, "Calls between two nodes")
        note = f"Notified put: the host's line is its message. {where}"
        drawing.legend(figure, handles.values(), handles.keys(), 5, note)
        drawing.save(figure, path)


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    if nodes is None:
        console.print(
            "Both ranks would be on one node. Add --hosts 2, as root, which makes two nodes of "
            "this machine. `oriel doctor --network` measures between real nodes.",
            highlight=False,
        )
        return 2
    card: Path | None = arguments.card and arguments.card.resolve()
    if card is not None and any(host.kind is INTEL for host in choose_hosts(arguments.mpi)):
        console.print(
            "Intel MPI does not run on the stand-in for a card, because it loads a libfabric of "
            "its own. Choose others: --mpi mpich,openmpi.",
            highlight=False,
        )
        return 2
    setting = Setting.of(arguments, "network")
    rounds = 1 if arguments.quick else arguments.rounds
    sizes = QUICK_SIZES if arguments.quick else SIZES
    variables = _networks(card)
    networks = {name: NetworkTimes() for name in variables}

    def program(host: Host, _: str) -> Sequence[str]:
        words = [str(own_program(host, "network"))]
        words += ["--milliseconds", str(QUICK_ROW_MS if arguments.quick else ROW_MS)]
        return words + [word for size in sizes for word in ("--bytes", str(size))]

    def read(host: str, form: str, output: str) -> int:
        way, name = form.split()
        if card is not None and name == CARD:
            networks[name].read_card(_measure_card(card, sizes))
        return networks[name].read(host, way, output)

    failures = play(
        setting.hosts, rounds, RANKS, program, read, TIMEOUT_S, nodes, forms=_forms(variables)
    )
    for name, times in networks.items():
        failures += [f"On {name}: {sentence}" for sentence in times.wrong]
        for host in times.hosts():
            console.print(_table(times, host, f"{setting.versions[host]}, {name}"))
    notes = ["A notified put is compared with the host's message."]
    if card is not None:
        notes.append(
            "The network card is modelled: a stand-in for one, which moves bytes within this "
            "machine at the times of its model."
        )
    place = setting.place(f"rounds: {rounds}" + (", card: a stand-in for one" if card else ""))
    rows = [
        {"network": name, "modelled": name == CARD, **row}
        for name, times in networks.items()
        for row in times.as_json()
    ]
    alone = networks[CARD].card_as_json() if card is not None else []
    results = setting.results(rows, rounds=rounds, card=alone)

    def draw(where: str, path: Path) -> None:
        _draw(networks, setting.versions, where, path)

    path = arguments.output / "network.png"
    return outcome.report(console, notes, failures, place, results, path, draw)
