# SPDX-License-Identifier: BSD-3-Clause
"""A task on one host: turns alone and with Oriel, alternating, and their answers."""

from __future__ import annotations

import dataclasses
import shlex
import statistics
import time
from collections.abc import Mapping

from case import Case
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.nodes import Nodes
from program import Task

WAYS = (HOST, ORIEL)

# A way that has taken as long in all has no further turn: more ranks than cores may take minutes,
# where an MPI's ranks do not leave a core to those that they wait for.
ENOUGH_SECONDS = 60


def ranks_text(ranks: int, nodes: int) -> str:
    return f"{ranks} on {nodes} nodes" if nodes > 1 else str(ranks)


@dataclasses.dataclass
class Turns:
    """`seconds`: of the turns that were right, from the launcher's start to its end. `faults`: why
    a turn was not right; the way has no further turn then."""

    task: Task
    case: Case
    seconds: dict[str, list[float]] = dataclasses.field(
        default_factory=lambda: {way: [] for way in WAYS}
    )
    faults: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def ranks(self) -> str:
        return ranks_text(self.task.ranks, self.task.nodes)

    @property
    def title(self) -> str:
        """Of the program, the task and the host."""
        where = f"{self.ranks} ranks" if self.task.nodes == 1 else f"ranks: {self.ranks}"
        return f"{self.case.suite}, {self.case.name}, {where}, {self.case.host.title}"

    def play(self, number: int, nodes: Nodes | None) -> None:
        """One turn of each way; every second time Oriel comes first."""
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            if way not in self.faults and sum(self.seconds[way]) < ENOUGH_SECONDS:
                seconds, fault = self.turn(way, nodes)
                if fault:
                    self.faults[way] = fault
                else:
                    self.seconds[way].append(seconds)

    def turn(
        self, way: str, nodes: Nodes | None, more: Mapping[str, str] | None = None
    ) -> tuple[float, str]:
        """How long one run took, and why it is not right."""
        before = time.monotonic()
        output, fault = self.case.run(way == ORIEL, nodes, more)
        seconds = time.monotonic() - before
        for answer in self.task.answers:
            fault = fault or answer.fault(output)
        return seconds, fault

    def right(self, way: str) -> bool:
        return way not in self.faults

    @property
    def known(self) -> bool:
        """The program fails on this MPI by a fault of its own."""
        return self.case.host.title.startswith(self.task.fails_on)

    def ratios(self) -> list[float]:
        """Oriel's time to that of the host alone, of each turn that both ways had; empty where one
        of the ways is not right."""
        if self.faults:
            return []
        return [ours / own for own, ours in zip(self.seconds[HOST], self.seconds[ORIEL])]

    @property
    def ratio(self) -> float | None:
        """The median of the pairs' ratios."""
        ratios = self.ratios()
        return statistics.median(ratios) if ratios else None

    @property
    def command(self) -> str:
        """What a user types, without the paths of this machine."""
        words = [word.rsplit("/", 1)[-1] for word in self.case.command]
        nodes = ["--hosts", str(self.task.nodes)] if self.task.nodes > 1 else []
        # The interpreter does not tell which MPI its script takes.
        mpi = ["--mpi", self.case.host.name] if words[0].startswith("python") else []
        settings = [
            f"{name}={value}"
            for name, value in self.case.environment.items()
            if name.startswith(("ORIEL_", "MPIR_CVAR_"))
        ]
        quoted = [shlex.quote(word) for word in words]
        ranks = str(self.task.ranks)
        return " ".join([*settings, "oriel", "run", "-n", ranks, *nodes, *mpi, *quoted])

    def as_json(self) -> dict:
        return {
            "program": self.case.suite,
            "task": self.task.title,
            "ranks": self.task.ranks,
            "nodes": self.task.nodes,
            "mpi": self.case.host.title,
            "seconds": self.seconds,
            "faults": self.faults,
            "ratio": self.ratio,
            "command": self.command,
        }
