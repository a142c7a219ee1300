# SPDX-License-Identifier: BSD-3-Clause
"""One program on one MPI, and what becomes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from job_settings import FOR_OPENMPI, SAME
from oriel.hosts.host import Host
from oriel.hosts.job import run
from oriel.hosts.nodes import Nodes

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
    limit_s: float = LIMIT_SECONDS

    def verdict(self, with_oriel: bool) -> str:
        """Why it failed; empty: it passed."""
        output, reason = self.run(with_oriel)
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
        settings = {**SAME, **self.environment, **(more or {})}
        if not with_oriel:
            settings["ORIEL_TEST_HOST_ONLY"] = "1"
        if self.host.name == "openmpi":
            settings = {**FOR_OPENMPI, **settings}
        argv, environ = self.host.command(self.ranks, self.command, with_oriel, settings, nodes)
        return run(argv, environ, self.limit_s)
