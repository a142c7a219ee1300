# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench wavefront`, as ratios to the messages of the best host."""

from __future__ import annotations

import math
from dataclasses import dataclass

from oriel.bench.notified_variants import NOTIFY
from oriel.bench.stencil import stencil_times
from oriel.bench.stencil.stencil_times import LIMIT
from oriel.bench.variant_times import MESSAGES, Case, VariantTimes
from oriel.bench.ways import HOST

# Beside the messages.
TITLES = {
    variant: stencil_times.TITLES[variant] for variant in ("post_start", "flag", NOTIFY, LIMIT)
}


@dataclass
class WavefrontTimes(VariantTimes):
    """Of one row on the slowest rank, by the columns of each rank."""

    case_name = "columns_per_rank"

    def case(self, line: dict) -> Case:
        return line["columns"] // line["ranks"]

    def samples(self, line: dict) -> list[float]:
        computed = line["rows"] - 1  # row 0 is given
        return [us / computed for us in line["samples"]]

    def best_host(self, case: Case) -> str:
        """The host whose messages take the least time."""
        return min(
            self.hosts(), key=lambda host: self.median(MESSAGES, case, host, HOST) or math.inf
        )

    def baseline(self, case: Case, host: str) -> float | None:
        """The messages of the best host alone, on whichever host the variant ran."""
        return super().baseline(case, self.best_host(case))
