# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench windows`: put and flush by kind of window and size, and making a window
while others are alive; and the paper's ratios."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

PUT = "put"
MAKING = "making"

ALLOCATED = "allocated"
# Windows whose puts are compared, the former's time against the latter's. The first is the paper's
# comparison: on one node of private memory with mapped memory. The others are of equal memory.
COMPARISONS = (
    ("dynamic", ALLOCATED),
    ("dynamic-alloc", ALLOCATED),
    ("handle-alloc", ALLOCATED),
    ("handle", "created"),
)

# What short puts took on dynamic windows against allocated ones in "Quo vadis MPI RMA?", 4.1.1.
PAPER = {"MPICH and MVAPICH": 1.5, "Open MPI": 3.0}

Key = tuple[str, str, int, str, str]  # measure, window, size or other windows, host, way


@dataclass
class WindowTimes:
    """Microseconds: of every run, one sample per batch."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            column = line["bytes"] if line["measure"] == PUT else line["others"]
            self.runs[line["measure"], line["window"], column, host, way].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for *_, host, _ in self.runs))

    def windows(self, measure: str) -> list[str]:
        return list(dict.fromkeys(window for what, window, *_ in self.runs if what == measure))

    def columns(self, measure: str) -> list[int]:
        """Sizes of puts, or numbers of other windows."""
        return sorted({column for what, _, column, *_ in self.runs if what == measure})

    def median(self, measure: str, window: str, column: int, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((measure, window, column, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def penalty(
        self, window: str, size: int, host: str, way: str, other: str = ALLOCATED
    ) -> float | None:
        """A put's time against that on another window, of the same host and way."""
        time = self.median(PUT, window, size, host, way)
        others = self.median(PUT, other, size, host, way)
        return time / others if time and others else None

    def as_json(self) -> list[dict]:
        return [
            {
                "measure": measure,
                "window": window,
                "bytes" if measure == PUT else "others": column,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(measure, window, column, host, way),
                **({"penalty": self.penalty(window, column, host, way)} if measure == PUT else {}),
                "runs": runs,
            }
            for (measure, window, column, host, way), runs in self.runs.items()
        ]
