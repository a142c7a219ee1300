# SPDX-License-Identifier: BSD-3-Clause
"""Where a benchmark runs: what each of them looks up first, and says beside its results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from oriel.bench.rounds import compared
from oriel.hosts.host import Host
from oriel.hosts.nodes import CONGESTION_CONTROL
from oriel.report import machine


@dataclass(frozen=True)
class Setting:
    hosts: Sequence[Host]
    nodes: int
    machine: dict  # at the start, with its load

    @classmethod
    def of(cls, arguments: argparse.Namespace, program: str) -> Setting:
        hosts = compared(arguments.mpi, program)
        return cls(hosts, arguments.hosts, machine.description())

    @property
    def versions(self) -> dict[str, str]:
        return {host.name: host.title for host in self.hosts}

    def place(self, details: str) -> str:
        """The machine and the MPIs, for the end of a table and the foot of a figure."""
        tcp = f"TCP with {CONGESTION_CONTROL}"
        several = f"{self.nodes} nodes made of network namespaces ({tcp}); "
        return (several if self.nodes > 1 else "") + (
            f"{self.machine['processor']}, {self.machine['cores']} cores, "
            f"kernel {self.machine['kernel']}, load {self.machine['load']} at the start; "
            f"{', '.join(self.versions.values())}; {details}"
        )

    def crowded(self, ranks: int) -> list[str]:
        """A note where the ranks share cores."""
        cores = self.machine["cores"]
        if ranks <= cores:
            return []
        return [f"The {ranks} ranks share {cores} cores: the times include waits for a core."]

    def results(self, rows: list[dict], **own) -> dict:
        """What is written as JSON; `own` is what else the benchmark was asked for and found."""
        return {
            "machine": self.machine,
            "hosts": self.versions,
            "nodes": self.nodes,
            **own,
            "rows": rows,
        }
