# SPDX-License-Identifier: BSD-3-Clause
"""What timelines show of a run that was recorded with ORIEL_TIMELINE, beside waits and epochs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from oriel.wait_states.operations import Operation, first_operations
from oriel.wait_states.rank_history import History
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.transfers import first_transfers

# By the kind of entry that there is once of each.
_NAMES = {
    "operation_issued": "operations",
    "transfer_begun": "transfers of collectives",
    "agent_swept": "sweeps of progress agents",
}


class Sweep(NamedTuple):
    """In which a rank's progress agent has moved something."""

    history: History
    begun: int
    ended: int


class Activity:
    """The first operations, transfers of persistent collectives and sweeps of progress agents.
    `left_out`: by name how many there are beyond these."""

    # Each takes some 450 bytes of the file for Perfetto and 40 of the page.
    MOST = 100_000

    def __init__(self, run: Run) -> None:
        found = {kind: sum(each.counts[kind] for each in run.histories) for kind in _NAMES}
        self.left_out = {
            _NAMES[kind]: number - self.MOST for kind, number in found.items() if number > self.MOST
        }
        self.operations = first_operations(run, self.MOST) if found["operation_issued"] else []
        self.transfers = first_transfers(run, self.MOST) if found["transfer_begun"] else []
        self.sweeps = list(islice(_sweeps(run), self.MOST)) if found["agent_swept"] else []

    def moved(self) -> list[Operation]:
        return [*self.operations, *self.transfers]

    def sentences(self) -> list[str]:
        """On what is left out."""
        return [
            f"The timeline shows the first {self.MOST:,} {name}; {number:,} later ones are left "
            "out."
            for name, number in self.left_out.items()
        ]


def _sweeps(run: Run) -> Iterator[Sweep]:
    for history, entry in run.in_order(("agent_swept",)):
        yield Sweep(history, entry.time, entry.time + entry.number)
