# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench progress`: an operation to a target that waits in MPI, and to one that
computes."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

IDLE = "idle"
BUSY = "busy"
TARGETS = (IDLE, BUSY)

Key = tuple[str, str, str, str]  # window, target, host, way


@dataclass(frozen=True)
class Run:
    operations: int
    seconds: float  # of all of them
    busy_s: float  # how long a busy target computed

    @property
    def us(self) -> float:
        """Microseconds per operation."""
        return 1e6 * self.seconds / self.operations


@dataclass
class ProgressTimes:
    runs: dict[Key, list[Run]] = field(default_factory=lambda: defaultdict(list))
    # By window, host and way: of each run the microseconds of the first operations to a target that
    # had just left MPI to compute for `absence_us`.
    firsts: dict[tuple[str, str, str], list[list[float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    absence_us: float = 0

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            if "first_us" in line:
                self.firsts[line["window"], host, way].append(line["first_us"])
                self.absence_us = 1e6 * line["absence_s"]
                continue
            run = Run(line["operations"], line["seconds"], line["busy_s"])
            self.runs[line["window"], line["target"], host, way].append(run)
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def windows(self) -> list[str]:
        return list(dict.fromkeys(window for window, _, _, _ in self.runs))

    def median(self, window: str, target: str, host: str, way: str) -> float | None:
        """Microseconds per operation, median of the runs."""
        runs = self.runs.get((window, target, host, way))
        return statistics.median(run.us for run in runs) if runs else None

    def ratio(self, window: str, host: str, way: str) -> float | None:
        """A busy target's time against an idle one's."""
        idle, busy = (self.median(window, target, host, way) for target in TARGETS)
        return busy / idle if idle and busy else None

    def longest_first(self, window: str, host: str, way: str) -> float | None:
        """Microseconds of the longest first operation, median of the runs."""
        runs = self.firsts.get((window, host, way))
        return statistics.median(max(run) for run in runs) if runs else None

    def waits(self, window: str, host: str, way: str) -> bool:
        """Whether in most runs the operations took nearly as long as the target computed and then
        what they take with an idle target: nothing moved until the target came back to MPI."""
        idle, busy = (self.runs.get((window, target, host, way), []) for target in TARGETS)
        if not idle:
            return False
        work = 0.8 * statistics.median(run.seconds for run in idle)
        late = [run.seconds >= run.busy_s + work for run in busy]
        return 2 * sum(late) > len(late)

    def as_json(self) -> list[dict]:
        return [
            {
                "window": window,
                "target": target,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(window, target, host, way),
                "waits": target == BUSY and self.waits(window, host, way),
                "runs": [run.us for run in runs],
                "operations": [run.operations for run in runs],
                "first": self.firsts.get((window, host, way), []) if target == BUSY else [],
            }
            for (window, target, host, way), runs in self.runs.items()
        ]
