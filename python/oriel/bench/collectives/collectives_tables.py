# SPDX-License-Identifier: BSD-3-Clause
"""The table of `oriel bench collectives`: a line for each collective, number of ranks and size."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from oriel.bench.collectives.collectives_times import (
    BLOCKING,
    INIT,
    NONBLOCKING,
    OURS,
    CollectivesTimes,
)
from oriel.bench.lines import Line
from oriel.bench.requests import request_tables
from oriel.bench.requests.request_tables import making_column, ratio_column, time_column
from oriel.bench.ways import HOST, ORIEL
from oriel.report.units import size_text

LABELS = ("Call", "Ranks", "Size")
COLUMNS = (
    time_column("blocking\nown", BLOCKING, HOST),
    time_column("nonblocking\nown", NONBLOCKING, HOST),
    time_column("persistent\nown", INIT, HOST),
    time_column("persistent\nOriel", OURS, ORIEL),
    ratio_column("Oriel\n/ best", OURS),
    making_column("making\nown", INIT, HOST),
    making_column("making\nOriel", OURS, ORIEL),
)
LEGEND = (
    "own: the host alone. Size: of a block, which alltoall and alltoallw send from each rank to "
    "each, allgatherv from each to all, neighbor_alltoallv from each to its neighbours in a grid, "
    "bcast from one to all, and of which reduce sums one of each rank. Oriel / best: Oriel's time "
    "against the fastest of the host's own calls, below 1 is less. making: a request, and freeing "
    "it; in brackets after how many rounds that is earned back against the host's blocking call "
    "(equation 3 of the paper). failed: a sentence below says why."
)


def lines(times: CollectivesTimes) -> list[Line]:
    found = []
    for (call, ranks), its in times.by_call():
        cases = its.cases()
        for case in cases:
            labels = (call, str(ranks), size_text(case))
            name = f"{call}, {ranks} ranks, {size_text(case)}"
            found.append(Line(name, labels, its, case, section=case == cases[-1]))
    return found


def table(lines: Sequence[Line], host: str, title: str) -> Table:
    title = f"{title}: time of a round, µs"
    return request_tables.table(title, LABELS, COLUMNS, lines, host)


def notes(lines: Sequence[Line], versions: dict[str, str]) -> list[str]:
    """Sentences about them."""
    return [
        *request_tables.verdicts(lines, versions, OURS, "Oriel's request"),
        *request_tables.preloaded(lines, versions, "the host's blocking call"),
        *request_tables.reasons(lines, versions),
    ]
