# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench stencil`, and the speed that the paper whose test it is found."""

from __future__ import annotations

from dataclasses import dataclass, field

from oriel.bench.variant_times import MESSAGES, VariantTimes

NOTIFY = "notify"
TITLES = {
    "limit": "limit",
    MESSAGES: "messages",
    "fence": "fence",
    "post_start": "pscw",
    "flag": "flag",
    NOTIFY: "notify",
}

# Speed of notified access against message passing in "Notified Access: Extending Remote Memory
# Access Programming Models for Producer-Consumer Synchronization": section VI-A (Figure 4b) and
# section I (Figure 1, 32 processes). Both are what it exceeds.
PAPER = {"weak": 2.17, "strong": 1.4}


@dataclass
class StencilTimes(VariantTimes):
    """Of an iteration on the slowest rank, by what stays the same with more ranks: the columns of
    each (weak scaling) or of all (strong scaling)."""

    case_name = "scaling"

    ranks: int = 0
    # By scaling: rows and columns in all, and what an iteration makes of accesses to memory.
    domains: dict[str, tuple[int, int]] = field(default_factory=dict)
    accesses: dict[str, float] = field(default_factory=dict)

    def look_at(self, line: dict) -> None:
        self.ranks = line["ranks"]
        self.domains[line["scaling"]] = (line["rows"], line["columns"])
        self.accesses[line["scaling"]] = line["accesses"]

    def gmops(self, variant: str, scaling: str, host: str, way: str) -> float | None:
        """Billions of accesses to memory per second."""
        us = self.median(variant, scaling, host, way)
        return self.accesses[scaling] / (1e3 * us) if us else None

    def speed(self, variant: str, scaling: str, host: str, way: str) -> float | None:
        """Against the messages of the host alone."""
        ratio = self.ratio(variant, scaling, host, way)
        return 1 / ratio if ratio else None

    def domain_text(self, scaling: str) -> str:
        rows, columns = self.domains[scaling]
        return f"{scaling} scaling: {rows:,} × {columns:,}"

    def as_json(self) -> list[dict]:
        rows = super().as_json()
        for row in rows:
            where = (row["variant"], row["scaling"], row["host"], row["way"])
            row["gmops"] = self.gmops(*where)
            row["speed"] = self.speed(*where)
        return rows
