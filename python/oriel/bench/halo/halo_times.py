# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench halo`, as ratios to the same host's point-to-point communication, and
the ratios of the paper whose test it is."""

from __future__ import annotations

from dataclasses import dataclass

from oriel.bench.variant_times import VariantTimes

TITLES = {"fence": "fence", "post_start": "pscw", "lock": "lock", "weak_lock": "weak lock"}

# MPICH2's ratios in "Minimizing synchronization overhead in the implementation of MPI one-sided
# communication", Tables 1 and 2, by bytes of a message.
PAPER_SIZES = (16, 64, 256, 1 << 10, 16 << 10, 64 << 10, 256 << 10)
PAPER = {
    "cluster": {
        "fence": dict(zip(PAPER_SIZES, (3.5, 3.28, 2.35, 1.59, 1.08, 0.85, 1.22))),
        "post_start": dict(zip(PAPER_SIZES, (2.03, 1.94, 1.60, 1.39, 1.05, 0.78, 1.08))),
    },
    "SMP": {
        "fence": dict(zip(PAPER_SIZES, (3.4, 2.94, 3.0, 2.43, 0.99, 1.13, 0.99))),
        "post_start": dict(zip(PAPER_SIZES, (2.45, 2.47, 2.55, 2.06, 0.82, 1.06, 1.01))),
        "lock": dict(zip(PAPER_SIZES, (2.24, 2.30, 2.38, 1.92, 0.79, 0.77, 0.94))),
    },
}
PAPER_TITLES = {
    "cluster": "the paper's MPICH2, Linux cluster",
    "SMP": "the paper's MPICH2, Sun SMP",
}


@dataclass
class HaloTimes(VariantTimes):
    """Of a step on the slowest rank, by the bytes of a message."""

    case_name = "bytes"

    grid: tuple[int, ...] = ()  # ranks in each dimension

    def look_at(self, line: dict) -> None:
        self.grid = tuple(line["grid"])
