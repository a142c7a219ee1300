# SPDX-License-Identifier: BSD-3-Clause
"""The times and tables of `oriel bench alltoallv` and `oriel bench sparse`: of an exchange by the
host's own calls and by each algorithm of ORIEL_Alltoallv_init. With more ranks and strong scaling
each sends less to each, so that all together exchange as much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from oriel.bench import requests
from oriel.bench.lines import Line
from oriel.bench.options import ELEMENT_BYTES
from oriel.bench.ratio_table import ratio_text
from oriel.bench.requests import RequestTimes, making_column, ratio_column, time_column
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.report.units import size_text

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


# The larger one is what 2 ranks exchange if each sends 2 MB to each, the paper's size. On 2, 4, 8
# and 16 ranks these totals make sizes that differ by a factor of four, as in the other tables.


def bytes_to_each(total: int, ranks: int) -> int:
    """From each rank to each, itself included, in whole elements. 0: the total is too small for so
    many ranks."""
    return total // ranks**2 // ELEMENT_BYTES * ELEMENT_BYTES


def sizes(totals: Sequence[int], ranks: int) -> list[int]:
    return [size for total in totals if (size := bytes_to_each(total, ranks))]


def lines_by_total(
    totals: Sequence[int], by_ranks: Mapping[int, AlltoallvTimes]
) -> list[Line[AlltoallvTimes]]:
    """A section for each total, a line for each number of ranks."""
    found = []
    for total in totals:
        measured = [ranks for ranks in by_ranks if bytes_to_each(total, ranks)]
        for ranks in measured:
            size = bytes_to_each(total, ranks)
            labels = (size_text(total), str(ranks), size_text(size))
            name = f"{size_text(total)} in all, {ranks} ranks"
            found.append(Line(name, labels, by_ranks[ranks], size, section=ranks == measured[-1]))
    return found


LEGEND = (
    "own: the host alone; the others are Oriel's algorithms. auto / best: auto's time against the "
    "fastest of the host's own calls, below 1 is less. In brackets: after how many exchanges the "
    "making of the request is earned back against the host's MPI_Alltoallv (equation 3 of the "
    "paper). failed: a sentence below says why."
)


def exchanges(lines: Iterable[Line], labels: Sequence[str], host: str, title: str) -> Table:
    columns = [time_column(f"{TITLES[variant]}\nown", variant, HOST) for variant in HOST_TITLES]
    for variant in ALGORITHM_TITLES:
        columns.append(time_column(TITLES[variant], variant, ORIEL))
        if variant == AUTO:
            columns.append(ratio_column("auto\n/ best", AUTO))
    title = f"{title}: time of an exchange, µs"
    return requests.table(title, labels, columns, lines, host)


def making(lines: Iterable[Line], labels: Sequence[str], host: str, title: str) -> Table:
    columns = [
        making_column(TITLES[variant] if way == ORIEL else f"{TITLES[variant]}, own", variant, way)
        for way in WAYS
        for variant in PERSISTENT[way]
    ]
    title = f"{title}: making a request and freeing it, µs"
    return requests.table(title, labels, columns, lines, host)


def notes(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """Sentences about them."""
    return [
        *requests.verdicts(lines, versions, AUTO, "auto"),
        *requests.preloaded(lines, versions, "MPI_Alltoallv"),
        *requests.reasons(lines, versions),
    ]


def against_paper(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """How the paper's algorithms compare with the host's MPI_Alltoallv, a sentence for each
    host."""
    sentences = []
    for host in requests.hosts(lines):
        parts = []
        for variant, paper in PAPER.items():
            ratios = [
                (ours / own, line.name)
                for line in lines
                if (ours := line.times.median(variant, line.case, host, ORIEL))
                and (own := line.times.median(BASELINE, line.case, host, HOST))
            ]
            if ratios:
                (least, where), (most, _) = min(ratios), max(ratios)
                parts.append(
                    f"{variant} takes {ratio_text(least)} ({where}) to {ratio_text(most)} of its "
                    f"time, the paper's {paper} at best"
                )
        if parts:
            sentences.append(f"{versions[host]}, against MPI_Alltoallv alone: {'; '.join(parts)}.")
    return sentences
