# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench stencil`, and the speed that the paper whose test it is found."""

from __future__ import annotations

from dataclasses import dataclass, field

from oriel.bench import notified_variants
from oriel.bench.notified_variants import NOTIFY
from oriel.bench.speed_times import SpeedTimes

LIMIT = "limit"
# Beside the messages.
TITLES = {LIMIT: "limit", **notified_variants.TITLES}

# Speed of notified access against message passing in "Notified Access: Extending Remote Memory
# Access Programming Models for Producer-Consumer Synchronization": section VI-A (Figure 4b) and
# section I (Figure 1, 32 processes). Both are what it exceeds.
PAPER = {NOTIFY: {"weak": 2.17, "strong": 1.4}}


@dataclass
class StencilTimes(SpeedTimes):
    """Of an iteration on the slowest rank, by what stays the same with more ranks: the columns of
    each (weak scaling) or of all (strong scaling). Operations are accesses to memory."""

    case_name = "scaling"

    domains: dict[str, tuple[int, int]] = field(default_factory=dict)  # rows and columns in all

    def look_at(self, line: dict) -> None:
        self.domains[line["scaling"]] = (line["rows"], line["columns"])
        self.operations[line["scaling"]] = line["accesses"]
