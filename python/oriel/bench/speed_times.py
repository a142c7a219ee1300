# SPDX-License-Identifier: BSD-3-Clause
"""The times of a program whose variants do the same work, as speeds."""

from __future__ import annotations

from dataclasses import dataclass, field

from oriel.bench.intervals import Interval
from oriel.bench.variant_times import Case, VariantTimes


@dataclass
class SpeedTimes(VariantTimes):
    # Of each case: how many operations, of whatever kind the program counts, one sample times.
    operations: dict[Case, float] = field(default_factory=dict)

    def rate(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Billions of operations per second, by all ranks together."""
        us = self.median(variant, case, host, way)
        return self._per_second(us, case) if us else None

    def rate_interval(self, variant: str, case: Case, host: str, way: str) -> Interval:
        us = self.interval(variant, case, host, way)
        return (self._per_second(us[1], case), self._per_second(us[0], case)) if us else None

    def speed(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """How many times as fast as the messages of the host alone."""
        ratio = self.ratio(variant, case, host, way)
        return 1 / ratio if ratio else None

    def _per_second(self, us: float, case: Case) -> float:
        return self.operations[case] / (1e3 * us)

    def as_json(self) -> list[dict]:
        rows = super().as_json()
        for row in rows:
            where = (row["variant"], row[self.case_name], row["host"], row["way"])
            row["rate"] = self.rate(*where)
            row["rate_interval"] = self.rate_interval(*where)
            row["speed"] = self.speed(*where)
        return rows
