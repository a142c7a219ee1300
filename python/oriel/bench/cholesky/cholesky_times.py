# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench cholesky`: how fast a matrix is factorized, against the same host's
point-to-point communication, and what the paper whose test it is has measured."""

from __future__ import annotations

from dataclasses import dataclass, field

from oriel.bench.notified_variants import NOTIFY
from oriel.bench.speed_times import SpeedTimes

ONE_SIDED = "onesided"
# Beside the messages.
TITLES = {ONE_SIDED: "one-sided", NOTIFY: "notify"}

# How many times as fast as message passing, in "Notified Access: Extending Remote Memory Access
# Programming Models for Producer-Consumer Synchronization", Figure 5, by tiles of each rank.
PAPER = {NOTIFY: {1: 1.95}}


@dataclass
class CholeskyTimes(SpeedTimes):
    """Of a factorization on the slowest rank, by how many tiles each rank has. Operations are those
    in floating point."""

    case_name = "tiles_per_rank"

    orders: dict[int, int] = field(default_factory=dict)  # of the matrix
    residual: float = 0  # the largest of all

    def look_at(self, line: dict) -> None:
        tiles = line[self.case_name]
        self.orders[tiles] = line["order"]
        self.operations[tiles] = line["operations"]
        self.residual = max(self.residual, line["residual"])

    def as_json(self) -> list[dict]:
        return [{"order": self.orders[row[self.case_name]], **row} for row in super().as_json()]
