# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench cholesky`: how fast a matrix is factorized, against the same host's
point-to-point communication, and what the paper whose test it is has measured."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

from oriel.bench.ways import HOST

MESSAGES = "messages"
ONE_SIDED = "onesided"
NOTIFY = "notify"
TITLES = {MESSAGES: "messages", ONE_SIDED: "one-sided", NOTIFY: "notify"}

# How many times as fast as message passing, in "Notified Access: Extending Remote Memory Access
# Programming Models for Producer-Consumer Synchronization", Figure 5.
PAPER = {NOTIFY: 1.95}

Key = tuple[str, int, str, str]  # variant, ranks, host, way


@dataclass
class CholeskyTimes:
    """Microseconds of a factorization on the slowest rank: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    # By ranks, on which the size of the matrix depends.
    orders: dict[int, int] = field(default_factory=dict)
    operations: dict[int, float] = field(default_factory=dict)  # in floating point
    residual: float = 0  # the largest of all

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            ranks = line["ranks"]
            self.orders[ranks] = line["order"]
            self.operations[ranks] = line["operations"]
            self.residual = max(self.residual, line["residual"])
            self.runs[line["variant"], ranks, host, way].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def ranks(self) -> list[int]:
        return sorted(self.orders)

    def median(self, variant: str, ranks: int, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((variant, ranks, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def speed(self, variant: str, ranks: int, host: str, way: str) -> float | None:
        """GFLOP/s of all ranks together."""
        us = self.median(variant, ranks, host, way)
        return self.operations[ranks] / us / 1e3 if us else None

    def ratio(self, variant: str, ranks: int, host: str, way: str) -> float | None:
        """How many times as fast as the messages of the host alone: they are what a program would
        use instead."""
        ours = self.median(variant, ranks, host, way)
        messages = self.median(MESSAGES, ranks, host, HOST)
        return messages / ours if ours and messages else None

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "ranks": ranks,
                "order": self.orders[ranks],
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, ranks, host, way),
                "gflop_s": self.speed(variant, ranks, host, way),
                "ratio": self.ratio(variant, ranks, host, way),
                "runs": runs,
            }
            for (variant, ranks, host, way), runs in self.runs.items()
        ]
