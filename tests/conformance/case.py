# SPDX-License-Identifier: BSD-3-Clause
"""One program on one MPI, and what becomes of it."""

from __future__ import annotations

import dataclasses

from conftest import FOR_OPENMPI, SAME
from oriel.hosts.host import Host
from oriel.hosts.job import run

LIMIT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Case:
    """`says`: what a run that passes prints."""

    suite: str
    name: str
    host: Host
    command: tuple[str, ...]
    ranks: int
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    says: str = ""

    def verdict(self, with_oriel: bool) -> str:
        """Why it failed; empty: it passed."""
        settings = {**SAME, **self.environment}
        if not with_oriel:
            settings["ORIEL_TEST_HOST_ONLY"] = "1"
        if self.host.name == "openmpi":
            settings = {**FOR_OPENMPI, **settings}
        argv, environ = self.host.command(self.ranks, self.command, with_oriel, settings)
        output, reason = run(argv, environ, LIMIT_SECONDS)
        if not reason and self.says not in output:
            return f"it did not print '{self.says}' but: {output[-300:].strip()}"
        return reason
