# SPDX-License-Identifier: BSD-3-Clause
"""What the runs of the patterns measured on one host MPI."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

from oriel.demo.patterns import Observation, Pattern

Key = tuple[str, str, int, str, str]  # pattern, way, bytes, variant, metric


@dataclass(frozen=True)
class Summary:
    """The distribution of one measured quantity, in microseconds."""

    median: float
    mean: float
    low: float  # first and third quartile
    high: float
    count: int


def summary(samples: list[float]) -> Summary | None:
    if not samples:
        return None
    ordered = sorted(samples)
    quartile = len(ordered) // 4
    return Summary(
        statistics.median(ordered),
        statistics.fmean(ordered),
        ordered[quartile],
        ordered[-1 - quartile],
        len(ordered),
    )


@dataclass
class Results:
    host: str
    version: str
    nodes: int = 1
    heads: dict[str, dict] = field(default_factory=dict)  # per pattern: ranks, busy ranks, cores
    samples: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    def read(self, way: str, output: str) -> int:
        """Takes the JSON lines that the program printed; returns how many there were."""
        lines = 0
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            record = json.loads(line)
            lines += 1
            if record.get("head"):
                self.heads[record["pattern"]] = record
                continue
            key = (
                record["pattern"],
                way,
                record["bytes"],
                record["variant"],
                record["metric"],
            )
            self.samples[key] += record["samples"]
        return lines

    @classmethod
    def of_json(cls, record: dict) -> Results:
        """What `as_json` made."""
        results = cls(record["host"], record["version"], heads=record["patterns"])
        results.failures += record["failures"]
        for each in record["measurements"]:
            key = (
                each["pattern"],
                each["way"],
                each["bytes"],
                each["variant"],
                each["metric"],
            )
            results.samples[key] += each["samples"]
        return results

    def sizes(self, pattern: Pattern) -> list[int]:
        return sorted({key[2] for key in self.samples if key[0] == pattern.name})

    def of(
        self, pattern: Pattern, observation: Observation, way: str, size: int, variant: str
    ) -> Summary | None:
        samples = self.samples.get((pattern.name, way, size, variant, observation.metric), [])
        if observation.beside_work:
            work = self.samples.get((pattern.name, way, size, variant, "work"), [])
            if work:
                samples = [whole - part for whole, part in zip(samples, work)]
        return summary(samples)

    def at_most(self, pattern: Pattern, size: int) -> float | None:
        """The length of what somebody might wait for: the work, or the transfer it hides."""
        # A nonblocking epoch's closing includes its wait, so a blocking way measures it better.
        ways = ("nonblocking",) if pattern.flag else ("blocking", "host")
        variant = "off" if pattern.flag else "pattern"
        for way in ways:
            samples = self.samples.get((pattern.name, way, size, variant, pattern.at_most))
            if samples:
                return statistics.median(samples)
        return None

    def as_json(self) -> dict:
        return {
            "host": self.host,
            "version": self.version,
            "patterns": self.heads,
            "failures": self.failures,
            "measurements": [
                {
                    "pattern": pattern,
                    "way": way,
                    "bytes": size,
                    "variant": variant,
                    "metric": metric,
                    "unit": "us",
                    "samples": samples,
                    **{
                        name: round(getattr(summary(samples), name), 3)
                        for name in ("median", "mean", "low", "high")
                    },
                }
                for (pattern, way, size, variant, metric), samples in self.samples.items()
                if samples
            ],
        }
