# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `oriel bench alltoallv` and `oriel bench sparse`: a column for each of the host's
calls and of Oriel's algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from oriel.bench.alltoallv.alltoallv_times import (
    ALGORITHM_TITLES,
    AUTO,
    BASELINE,
    HOST_TITLES,
    PAPER,
    PERSISTENT,
    TITLES,
)
from oriel.bench.lines import Line
from oriel.bench.ratio_table import ratio_text
from oriel.bench.requests import request_tables
from oriel.bench.requests.request_tables import making_column, ratio_column, time_column
from oriel.bench.ways import HOST, ORIEL, WAYS

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
    return request_tables.table(title, labels, columns, lines, host)


def making(lines: Iterable[Line], labels: Sequence[str], host: str, title: str) -> Table:
    columns = [
        making_column(TITLES[variant] if way == ORIEL else f"{TITLES[variant]}, own", variant, way)
        for way in WAYS
        for variant in PERSISTENT[way]
    ]
    title = f"{title}: making a request and freeing it, µs"
    return request_tables.table(title, labels, columns, lines, host)


def notes(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """Sentences about them."""
    return [
        *request_tables.verdicts(lines, versions, AUTO, "auto"),
        *request_tables.preloaded(lines, versions, "MPI_Alltoallv"),
        *request_tables.reasons(lines, versions),
    ]


def against_paper(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """How the paper's algorithms compare with the host's MPI_Alltoallv, a sentence for each
    host."""
    sentences = []
    for host in request_tables.hosts(lines):
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
