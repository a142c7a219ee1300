# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench collectives`: the persistent collectives besides alltoallv against the host's own
calls, by size and by ranks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from rich.console import Console
from rich.table import Table

from oriel.bench import outcome, requests
from oriel.bench.lines import Line
from oriel.bench.ratio_table import ratio_text
from oriel.bench.requests import (
    QUICK_SIZES,
    TIMEOUT_S,
    RequestTimes,
    lengths,
    making_column,
    ratio_column,
    time_column,
)
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.subjects import CALLS
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import GRID, INK, STYLE, plt
from oriel.report.units import size_text

BLOCKING = "blocking"
NONBLOCKING = "nonblocking"
INIT = "init"
OURS = "oriel"
OWN = (BLOCKING, NONBLOCKING, INIT)
# What the program measures. The host's call with Oriel preloaded tells what that costs.
VARIANTS = {HOST: OWN, ORIEL: (BLOCKING, OURS)}


@dataclass
class CollectiveTimes(RequestTimes):
    """Of one collective on one number of ranks. A case is how many bytes a block has."""

    call: str = ""

    own = OWN
    baseline = BLOCKING

    def called(self, variant: str) -> str:
        name = CALLS[self.call]
        return {
            BLOCKING: f"MPI_{name}",
            NONBLOCKING: f"MPI_I{name.lower()}",
            INIT: f"MPI_{name}_init",
            OURS: f"ORIEL_{name}_init",
        }[variant]


@dataclass
class CollectivesTimes:
    """Of several collectives on several numbers of ranks."""

    of: dict[tuple[str, int], CollectiveTimes] = field(default_factory=dict)

    def read(self, ranks: int, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            key = (line["call"], ranks)
            self.of.setdefault(key, CollectiveTimes(call=line["call"])).take(host, way, line)
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for times in self.of.values() for host in times.hosts()))

    def by_call(self) -> list[tuple[tuple[str, int], CollectiveTimes]]:
        order = list(CALLS)
        return sorted(self.of.items(), key=lambda item: order.index(item[0][0]))

    def calls(self) -> list[str]:
        return list(dict.fromkeys(call for (call, _), _ in self.by_call()))

    def ranks(self) -> list[int]:
        return list(dict.fromkeys(ranks for _, ranks in self.of))

    def sizes(self) -> list[int]:
        return list(dict.fromkeys(size for times in self.of.values() for size in times.cases()))

    def ratio(self, call: str, ranks: int, size: int, host: str) -> float | None:
        """Of Oriel's request to the fastest call of the host alone."""
        times = self.of.get((call, ranks))
        return times.ratio(OURS, size, host, ORIEL) if times else None

    def as_json(self) -> list[dict]:
        return self._rows({key: times.as_json() for key, times in self.of.items()})

    def failures_as_json(self) -> list[dict]:
        return self._rows({key: times.failures_as_json() for key, times in self.of.items()})

    @staticmethod
    def _rows(rows: dict[tuple[str, int], Sequence[dict]]) -> list[dict]:
        return [
            {"call": call, "ranks": ranks, **row}
            for (call, ranks), its in rows.items()
            for row in its
        ]


BARS = LinearSegmentedColormap.from_list("sizes", ["#a9cbdc", "#14648c", "#0b2f45"])
TITLE = "Persistent collectives against the host's own calls: below 1 Oriel takes less time"
GROUP = 0.84  # of the place of a collective, for its bars
MARGIN = 0.14  # of the height, above and below the bars for their numbers


def _draw(
    times: CollectivesTimes, versions: dict[str, str], nodes: int, where: str, path: Path
) -> None:
    """The time of Oriel's requests against the fastest of the host's own calls, a panel for
    each host and number of ranks."""
    hosts, all_ranks, sizes = times.hosts(), times.ranks(), times.sizes()
    colours = [BARS(place / max(1, len(sizes) - 1)) for place in range(len(sizes))]
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(all_ranks),
            len(hosts),
            figsize=(max(9.0, 5.0 * len(hosts) + 1.0), 2.9 * len(all_ranks) + 1.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        for ranks, row in zip(all_ranks, grid):
            for host, axes in zip(hosts, row):
                _bars(axes, times, ranks, host, colours)
                title = f"{versions[host]}, {drawing.ranks_on(ranks, nodes)}"
                axes.set_title(title, loc="left", fontsize=10)
            row[0].set_ylabel("Oriel / the host's fastest", fontsize=9)
        low, high = grid[0, 0].get_ylim()
        room = (high / low) ** MARGIN
        grid[0, 0].set_ylim(low / room, high * room)
        drawing.title(figure, TITLE)
        handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
        drawing.legend(figure, handles, [size_text(size) for size in sizes], len(sizes), where)
        drawing.save(figure, path)


def _bars(axes: Axes, times: CollectivesTimes, ranks: int, host: str, colours: list) -> None:
    """From 1 up or down to the ratio."""
    sizes = times.sizes()
    width = GROUP / len(sizes)
    above, below = [], []
    for group, call in enumerate(times.calls()):
        for number, (size, colour) in enumerate(zip(sizes, colours)):
            place = group + (number + 0.5) * width - GROUP / 2
            ratio = times.ratio(call, ranks, size, host)
            if ratio:
                axes.bar(place, ratio - 1, 0.9 * width, bottom=1, color=colour)
            text = ratio_text(ratio) if ratio is None or ratio < 10 else f"{ratio:.0f}"
            (above if ratio is None or ratio >= 1 else below).append((place, ratio or 1, text))
    axes.axhline(1, color=INK, linewidth=0.8)
    drawing.logarithmic(axes)
    drawing.label_bars(axes, above, 5.5, rotation=90, va="bottom")
    drawing.label_bars(axes, below, 5.5, gap=-2, rotation=90, va="top")
    names = [call.replace("neighbor_", "neighbor_\n") for call in times.calls()]
    axes.set_xticks(range(len(names)), names, fontsize=7)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    axes.tick_params(axis="y", labelsize=8)


LABELS = ("Call", "Ranks", "Size")
COLUMNS = (
    time_column("blocking\nown", BLOCKING, HOST),
    time_column("nonblocking\nown", NONBLOCKING, HOST),
    time_column("persistent\nown", INIT, HOST),
    time_column("persistent\nOriel", OURS, ORIEL),
    ratio_column("Oriel\n/ best", OURS),
    making_column("making\nown", INIT, HOST),
    making_column("making\nOriel", OURS, ORIEL),
)
LEGEND = (
    "own: the host alone. Size: of a block, which alltoall and alltoallw send from each rank to "
    "each, allgatherv from each to all, neighbor_alltoallv from each to its neighbours in a grid, "
    "bcast from one to all, and of which reduce sums one of each rank. Oriel / best: Oriel's time "
    "against the fastest of the host's own calls, below 1 is less. making: a request, and freeing "
    "it; in brackets after how many rounds that is earned back against the host's blocking call "
    "(equation 3 of the paper). failed: a sentence below says why."
)


def lines(times: CollectivesTimes) -> list[Line]:
    found = []
    for (call, ranks), its in times.by_call():
        cases = its.cases()
        for case in cases:
            labels = (call, str(ranks), size_text(case))
            name = f"{call}, {ranks} ranks, {size_text(case)}"
            found.append(Line(name, labels, its, case, section=case == cases[-1]))
    return found


def table(lines: Sequence[Line], host: str, title: str) -> Table:
    title = f"{title}: time of a round, µs"
    return requests.table(title, LABELS, COLUMNS, lines, host)


def notes(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """Sentences about them."""
    return [
        *requests.verdicts(lines, versions, OURS, "Oriel's request"),
        *requests.preloaded(lines, versions, "the host's blocking call"),
        *requests.reasons(lines, versions),
    ]


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
    rows = lines(times)
    for host in times.hosts():
        console.print(table(rows, host, versions[host]))
    console.print(LEGEND, highlight=False)
    told = [
        *notes(rows, versions),
        *(note for ranks in all_ranks for note in setting.crowded(ranks)),
    ]
    place = setting.place(f"rounds: {rounds}")
    results = setting.results(times.as_json(), rounds=rounds, failed=times.failures_as_json())

    def draw(where: str, path: Path) -> None:
        _draw(times, versions, arguments.hosts, where, path)

    path = arguments.output / "collectives.png"
    return outcome.report(console, told, failures, place, results, path, draw)
