# SPDX-License-Identifier: BSD-3-Clause
"""The times of a collective by the host's own calls and by Oriel's persistent requests: of a round,
of making a request, and after how many rounds that is earned back."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import ClassVar

from oriel.bench.variant_times import Case, Key, VariantTimes
from oriel.bench.ways import HOST

NEVER = math.inf


@dataclass
class RequestTimes(VariantTimes):
    """A case is a number of bytes."""

    case_name = "bytes"
    own: ClassVar[tuple[str, ...]]  # the variants that are the host's calls
    baseline: ClassVar[str]  # the one of them against which a request's making is earned back

    makings: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[Key, str] = field(default_factory=dict)

    def read(self, host: str, way: str, output: str) -> int:
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            self.take(host, way, line)
        return len(lines)

    def take(self, host: str, way: str, line: dict) -> None:
        key = (line["variant"], line[self.case_name], host, way)
        if "failed" in line:
            self.failures[key] = line["failed"]
            return
        self.runs[key].append(line["samples"])
        if "making" in line:
            self.makings[key].append(line["making"])

    def called(self, variant: str) -> str:
        """In a sentence."""
        return variant

    def making(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Making a request and freeing it: median over the runs of each run's median."""
        runs = self.makings.get((variant, case, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def fastest_own(self, case: Case, host: str) -> float | None:
        """Of the calls of the host alone."""
        own = [self.median(variant, case, host, HOST) for variant in self.own]
        return min((time for time in own if time), default=None)

    def ratio(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """To the fastest call of the host alone: below 1 is less time."""
        ours = self.median(variant, case, host, way)
        own = self.fastest_own(case, host)
        return ours / own if ours and own else None

    def breakeven(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Equation 3 of the paper: after how many rounds the request's making is earned back
        against the host's blocking call; NEVER where a round does not take less time."""
        making = self.making(variant, case, host, way)
        ours = self.median(variant, case, host, way)
        own = self.median(self.baseline, case, host, HOST)
        if making is None or ours is None or own is None:
            return None
        return math.ceil(making / (own - ours)) if own > ours else NEVER

    def as_json(self) -> list[dict]:
        rows = []
        for (variant, case, host, way), runs in self.runs.items():
            key = (variant, case, host, way)
            breakeven = self.breakeven(*key)
            rows.append(
                {
                    "variant": variant,
                    self.case_name: case,
                    "host": host,
                    "way": way,
                    "unit": "us",
                    "median": self.median(*key),
                    "ratio": self.ratio(*key),
                    "making": self.making(*key),
                    "breakeven": "never" if breakeven == NEVER else breakeven,
                    "runs": runs,
                    "making_runs": self.makings.get(key, []),
                }
            )
        return rows

    def failures_as_json(self) -> list[dict]:
        return [
            {"variant": variant, self.case_name: case, "host": host, "way": way, "reason": reason}
            for (variant, case, host, way), reason in self.failures.items()
        ]
