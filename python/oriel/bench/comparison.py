# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark whose program measures several variants, each against the host's own messages."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from oriel.bench import outcome
from oriel.bench.rounds import WITHOUT_UCX, play
from oriel.bench.setting import Setting
from oriel.bench.variant_times import VariantTimes, rows_by_ranks
from oriel.hosts.host import Host, own_program
from oriel.hosts.nodes import Nodes


@dataclass(frozen=True)
class Comparison:
    """What one benchmark has of its own. What depends on the times is called after all runs."""

    name: str  # of the figure and the results, and of the program unless `program` names it
    times: Mapping[int, VariantTimes]  # by number of ranks
    words: Sequence[str]  # for the program, behind --window
    timeout_s: float
    tables: Callable[[Mapping[str, str]], Iterable[Table]]  # takes the hosts' titles by name
    legend: Callable[[], str]
    shape: Callable[[], str]  # of the ranks and their data, for the foot of the figure
    results: Callable[[], dict]  # for the JSON file, beside rows, window and rounds
    # Takes the hosts' titles, the foot and the path.
    draw: Callable[[Mapping[str, str], str, Path], None]
    program: str | None = None

    def run(self, arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
        """Measures, prints and writes; returns the exit status."""
        program = self.program or self.name
        setting = Setting.of(arguments, program)
        rounds = 1 if arguments.quick else arguments.rounds

        def command(host: Host, way: str) -> Sequence[str]:
            return [str(own_program(host, program)), "--window", arguments.window, *self.words]

        failures: list[str] = []
        for ranks, times in self.times.items():
            failures += play(
                setting.hosts,
                rounds,
                ranks,
                command,
                times.read,
                self.timeout_s,
                nodes,
                WITHOUT_UCX,
            )
        for table in self.tables(setting.versions):
            console.print(table)
        console.print(self.legend(), highlight=False)
        place = setting.place(f"{self.shape()}, {arguments.window} window, rounds: {rounds}")
        results = setting.results(
            rows_by_ranks(self.times), window=arguments.window, rounds=rounds, **self.results()
        )

        def draw(where: str, path: Path) -> None:
            self.draw(setting.versions, where, path)

        path = arguments.output / f"{self.name}.png"
        notes = [note for ranks in self.times for note in setting.crowded(ranks)]
        return outcome.report(console, notes, failures, place, results, path, draw)
