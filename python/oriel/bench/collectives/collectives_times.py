# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench collectives`: of each collective by the host's own calls and by Oriel's
persistent request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from oriel.bench.requests.request_times import RequestTimes
from oriel.bench.ways import HOST, ORIEL

# By the program's names: what comes after MPI_.
CALLS = {
    "alltoall": "Alltoall",
    "alltoallw": "Alltoallw",
    "allgatherv": "Allgatherv",
    "neighbor_alltoallv": "Neighbor_alltoallv",
    "reduce": "Reduce",
    "bcast": "Bcast",
}
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
