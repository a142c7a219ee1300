# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench transactions`: how many updates all ranks make together, each in a lock
epoch of its own, and what the paper whose test it is has measured."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

BLOCKING = "blocking"
NONBLOCKING = "nonblocking"
REORDERED = "reordered"
TITLES = {BLOCKING: "blocking", NONBLOCKING: "nonblocking", REORDERED: "A_A_A_R"}

# How many times the transactions of the blocking epochs, by ranks: "Nonblocking Epochs in MPI
# One-Sided Communication", section VIII-B and Figure 12. The last one met a limit of the paper's
# flow control, which Oriel does not have.
PAPER = {64: 1.39, 128: 1.20, 256: 1.16, 512: 1.02}

Key = tuple[str, int, int, str, str]  # variant, ranks, microseconds of computation, host, way


@dataclass
class TransactionsTimes:
    """Microseconds of a transaction on the slowest rank: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            key = (line["variant"], line["ranks"], line["compute_us"], host, way)
            self.runs[key].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, _, host, _ in self.runs))

    def ranks(self) -> list[int]:
        return sorted({ranks for _, ranks, _, _, _ in self.runs})

    def computations(self) -> list[int]:
        return sorted({compute_us for _, _, compute_us, _, _ in self.runs})

    def median(
        self, variant: str, ranks: int, compute_us: int, host: str, way: str
    ) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((variant, ranks, compute_us, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def rate(self, variant: str, ranks: int, compute_us: int, host: str, way: str) -> float | None:
        """Transactions of all ranks together in a second."""
        us = self.median(variant, ranks, compute_us, host, way)
        return 1e6 * ranks / us if us else None

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "ranks": ranks,
                "compute_us": compute_us,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, ranks, compute_us, host, way),
                "per_second": self.rate(variant, ranks, compute_us, host, way),
                "runs": runs,
            }
            for (variant, ranks, compute_us, host, way), runs in self.runs.items()
        ]
