# SPDX-License-Identifier: BSD-3-Clause
"""One program on one MPI, and what becomes of it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping
from pathlib import Path

from job_settings import FOR_OPENMPI, SAME
from little_shm import with_little_shm
from oriel.hosts.host import Host
from oriel.hosts.job import run
from oriel.hosts.nodes import Nodes, across

LIMIT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Case:
    """`says`: what a run that passes prints; `limit_s`: it fails when it takes longer."""

    suite: str
    name: str
    host: Host
    command: tuple[str, ...]
    ranks: int
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    says: str = ""
    nodes: int = 1
    limit_s: float = LIMIT_SECONDS
    little_shm_mebibytes: int = 0  # 0: /dev/shm as it is

    def verdict(self, with_oriel: bool) -> str:
        """Why it failed; empty: it passed."""
        with across(self.nodes) as nodes:
            output, reason = self.run(with_oriel, nodes)
        if not reason and self.says not in output:
            return f"it did not print '{self.says}' but: {output[-300:].strip()}"
        return reason

    def run(
        self,
        with_oriel: bool,
        nodes: Nodes | None = None,
        more: Mapping[str, str] | None = None,
    ) -> tuple[str, str]:
        """What one run printed and, where it failed, why. `more`: further variables for it."""
        # A program of ours ends by itself a little earlier.
        alarm = {"ORIEL_TEST_ALARM": str(int(self.limit_s) - 5)}
        settings = {**SAME, **alarm, **self.environment, **(more or {})}
        if not with_oriel:
            settings["ORIEL_TEST_HOST_ONLY"] = "1"
        if self.host.name == "openmpi":
            settings = {**FOR_OPENMPI, **settings}
        host = self.host
        with tempfile.TemporaryDirectory() as folder:
            if self.little_shm_mebibytes:
                host = with_little_shm(host, self.little_shm_mebibytes, Path(folder))
            words = (self.ranks, self.command, with_oriel, settings, nodes)
            return run(*host.command(*words), self.limit_s)
