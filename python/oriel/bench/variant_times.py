# SPDX-License-Identifier: BSD-3-Clause
"""The times of a program that does one thing in several variants, of which one is point-to-point
communication: as ratios to that of the same host alone."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Union

from oriel.bench.intervals import Interval, median_interval
from oriel.bench.ways import HOST

MESSAGES = "messages"

Case = Union[int, str]
Key = tuple[str, Case, str, str]  # variant, case, host, way


@dataclass
class VariantTimes:
    """Microseconds: of every run, one sample per batch."""

    case_name: ClassVar[str]  # of the field that says in which case a variant was measured

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            self.look_at(line)
            key = (line["variant"], self.case(line), host, way)
            self.runs[key].append(self.samples(line))
        return len(lines)

    def look_at(self, line: dict) -> None:
        """Takes what a line tells beside the times."""

    def case(self, line: dict) -> Case:
        return line[self.case_name]

    def samples(self, line: dict) -> list[float]:
        return line["samples"]

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def cases(self) -> list[Case]:
        return list(dict.fromkeys(case for _, case, _, _ in self.runs))

    def median(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((variant, case, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def interval(self, variant: str, case: Case, host: str, way: str) -> Interval:
        """Of the median of a run. Runs are independent of one another; the batches of a run are
        not, because the ranks keep their cores and their memory."""
        runs = self.runs.get((variant, case, host, way), [])
        return median_interval(statistics.median(run) for run in runs)

    def baseline(self, case: Case, host: str) -> float | None:
        """The messages of the host alone: they are what a program would use instead."""
        return self.median(MESSAGES, case, host, HOST)

    def ratio(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """The time of the variant over the baseline."""
        ours = self.median(variant, case, host, way)
        baseline = self.baseline(case, host)
        return ours / baseline if ours and baseline else None

    def as_json(self) -> list[dict]:
        return [
            {
                "variant": variant,
                self.case_name: case,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(variant, case, host, way),
                "interval": self.interval(variant, case, host, way),
                "ratio": self.ratio(variant, case, host, way),
                "runs": runs,
            }
            for (variant, case, host, way), runs in self.runs.items()
        ]


def rows_by_ranks(by_ranks: Mapping[int, VariantTimes]) -> list[dict]:
    """For the JSON file, where the times of each number of ranks are an object of their own."""
    return [{"ranks": ranks, **row} for ranks, times in by_ranks.items() for row in times.as_json()]
