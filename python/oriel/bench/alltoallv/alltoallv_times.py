# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench alltoallv` and `oriel bench sparse`: of an exchange by the host's own
calls and by each algorithm of ORIEL_Alltoallv_init."""

from __future__ import annotations

from oriel.bench.requests.request_times import RequestTimes
from oriel.bench.ways import HOST, ORIEL

BASELINE = "alltoallv"  # MPI_Alltoallv, the paper's baseline
HOST_TITLES = {
    BASELINE: "Alltoallv",
    "ialltoallv": "Ialltoallv",
    "alltoallv_init": "Alltoallv\ninit",
}
AUTO = "auto"
# Those that auto is one of.
NOTIFIED = "notified"
NOTIFIED_HIERARCHY = "notified_hierarchy"
TWO_SIDED = "two_sided"
FENCE = "fence"
LOCK = "lock"
ALGORITHM_TITLES = {
    AUTO: "auto",
    NOTIFIED: "notified",
    NOTIFIED_HIERARCHY: "notified\nhierarchy",
    FENCE: "fence",
    "fence_hierarchy": "fence\nhierarchy",
    LOCK: "lock",
    "lock_hierarchy": "lock\nhierarchy",
    TWO_SIDED: "two-sided",
}
# What the algorithms of "Analyzing Persistent Alltoallv RMA Implementations for High-Performance
# MPI Communication" take of MPI_Alltoallv's time at best, with 2 MB to each rank.
PAPER = {FENCE: 0.56, LOCK: 0.62}
TITLES = {**HOST_TITLES, **ALGORITHM_TITLES}
# What the program measures. The host's call with Oriel preloaded tells what that costs.
VARIANTS = {HOST: tuple(HOST_TITLES), ORIEL: (BASELINE, *ALGORITHM_TITLES)}
PERSISTENT = {HOST: ("alltoallv_init",), ORIEL: tuple(ALGORITHM_TITLES)}


def variants(way: str) -> list[str]:
    """The program's options that say what it measures."""
    return [word for variant in VARIANTS[way] for word in ("--variant", variant)]


class AlltoallvTimes(RequestTimes):
    """Of one number of ranks. A case is how many bytes the longest message between two ranks has:
    all of them, where the counts are uniform."""

    own = tuple(HOST_TITLES)
    baseline = BASELINE
