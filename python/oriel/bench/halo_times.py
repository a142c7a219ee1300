# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench halo`, as ratios to the same host's point-to-point communication, and
the ratios of the paper whose test it is."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

from oriel.bench.ways import HOST

MESSAGES = "messages"
TITLES = {"fence": "fence", "post_start": "pscw", "lock": "lock", "weak_lock": "weak lock"}
VARIANTS = tuple(TITLES)

# MPICH2's ratios in "Minimizing synchronization overhead in the implementation of MPI one-sided
# communication", Tables 1 and 2, by bytes of a message.
PAPER_SIZES = (16, 64, 256, 1 << 10, 16 << 10, 64 << 10, 256 << 10)
PAPER = {
    "cluster": {
        "fence": dict(zip(PAPER_SIZES, (3.5, 3.28, 2.35, 1.59, 1.08, 0.85, 1.22))),
        "post_start": dict(zip(PAPER_SIZES, (2.03, 1.94, 1.60, 1.39, 1.05, 0.78, 1.08))),
    },
    "SMP": {
        "fence": dict(zip(PAPER_SIZES, (3.4, 2.94, 3.0, 2.43, 0.99, 1.13, 0.99))),
        "post_start": dict(zip(PAPER_SIZES, (2.45, 2.47, 2.55, 2.06, 0.82, 1.06, 1.01))),
        "lock": dict(zip(PAPER_SIZES, (2.24, 2.30, 2.38, 1.92, 0.79, 0.77, 0.94))),
    },
}
PAPER_TITLES = {
    "cluster": "the paper's MPICH2, Linux cluster",
    "SMP": "the paper's MPICH2, Sun SMP",
}

Key = tuple[str, int, str, str]  # variant, bytes, host, way


@dataclass
class HaloTimes:
    """Microseconds of a step on the slowest rank: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    grid: tuple[int, ...] = ()  # ranks in each dimension

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            self.grid = tuple(line["grid"])
            self.runs[line["variant"], line["bytes"], host, way].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def sizes(self) -> list[int]:
        return sorted({size for _, size, _, _ in self.runs})

    def median(self, variant: str, size: int, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((variant, size, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def ratio(self, variant: str, size: int, host: str, way: str) -> float | None:
        """To the messages of the host alone: they are what a program would use instead."""
        ours = self.median(variant, size, host, way)
        messages = self.median(MESSAGES, size, host, HOST)
        return ours / messages if ours and messages else None

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                "bytes": size,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, size, host, way),
                "ratio": self.ratio(variant, size, host, way),
                "runs": runs,
            }
            for (variant, size, host, way), runs in self.runs.items()
        ]
