# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench tree`, as ratios to the same host's point-to-point communication."""

from __future__ import annotations

from dataclasses import dataclass

from oriel.bench.variant_times import VariantTimes

# Beside the messages.
TITLES = {
    "reduce": "MPI_Reduce",
    "fence": "fence",
    "post_start": "pscw",
    "flag": "flag",
    "notify": "notify",
}


@dataclass
class TreeTimes(VariantTimes):
    """Of a reduction, until the root has the sums, by the bytes of a contribution."""

    case_name = "bytes"

    ranks: int = 0
    arity: int = 0

    def look_at(self, line: dict) -> None:
        self.ranks = line["ranks"]
        self.arity = line["arity"]

    def shape_text(self) -> str:
        return f"{self.ranks} ranks in a tree of arity {self.arity}"
