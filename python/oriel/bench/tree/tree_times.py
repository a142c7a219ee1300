# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench tree`, as ratios to the same host's point-to-point communication."""

from __future__ import annotations

from dataclasses import dataclass

from oriel.bench import notified_variants
from oriel.bench.variant_times import VariantTimes

REDUCE = "reduce"
# Beside the messages.
TITLES = {REDUCE: "MPI_Reduce", **notified_variants.TITLES}


@dataclass
class TreeTimes(VariantTimes):
    """Of a reduction, until the root has the sums, by the bytes of a contribution."""

    case_name = "bytes"
