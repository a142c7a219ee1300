# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench lu`, against the same host's own blocking epochs, and the share of
their time that ranks spend in MPI calls."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from oriel.bench.ways import HOST, ORIEL

BLOCKING = "blocking"
EARLY = "early_complete"
NONBLOCKING = "nonblocking"
ISEND = "isend"
BCAST = "bcast"
TITLES = {
    BLOCKING: "blocking",
    EARLY: "early complete",
    NONBLOCKING: "nonblocking",
    ISEND: "isend",
    BCAST: "bcast",
}

# Time of nonblocking epochs against blocking ones of the same library, in "Nonblocking epochs in
# MPI one-sided communication", Figure 13 a and c, 64 to 128 processes: an improvement of 50 %.
PAPER = 0.5


class LuCase(NamedTuple):
    order: int  # of the matrix
    ranks: int


Key = tuple[str, LuCase, str, str]  # variant, case, host, way


@dataclass
class LuTimes:
    """Microseconds of a decomposition on the slowest rank, and shares from 0 to 1, means of all
    ranks: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    shares: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    # The largest of all, in units of ||A|| n eps.
    residual: float = 0  # of ||A - L U||
    difference: float = 0  # from LAPACK's factors

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            key = (line["variant"], LuCase(line["order"], line["ranks"]), host, way)
            self.runs[key].append(line["samples"])
            self.shares[key].append(line["shares"])
            self.residual = max(self.residual, line["residual"])
            self.difference = max(self.difference, line["difference"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def cases(self) -> list[LuCase]:
        return sorted({case for _, case, _, _ in self.runs})

    def orders(self) -> list[int]:
        return sorted({case.order for case in self.cases()})

    def median(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        return _median(self.runs.get((variant, case, host, way)))

    def share(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """The same of the share."""
        return _median(self.shares.get((variant, case, host, way)))

    def ratio(self, variant: str, case: LuCase, host: str, way: str) -> float | None:
        """To the blocking epochs of the host alone: below 1 is less time."""
        return _ratio(
            self.median(variant, case, host, way), self.median(BLOCKING, case, host, HOST)
        )

    def gain(self, case: LuCase, host: str) -> float | None:
        """Oriel's nonblocking epochs to its blocking ones, which is what the paper compares."""
        return _ratio(
            self.median(NONBLOCKING, case, host, ORIEL), self.median(BLOCKING, case, host, ORIEL)
        )

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "order": case.order,
                "ranks": case.ranks,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, case, host, way),
                "ratio": self.ratio(variant, case, host, way),
                "share": self.share(variant, case, host, way),
                "runs": runs,
                "share_runs": self.shares[variant, case, host, way],
            }
            for (variant, case, host, way), runs in self.runs.items()
        ]


def _median(runs: list[list[float]] | None) -> float | None:
    return statistics.median(statistics.median(run) for run in runs) if runs else None


def _ratio(ours: float | None, others: float | None) -> float | None:
    return ours / others if ours and others else None
