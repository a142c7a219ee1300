# SPDX-License-Identifier: BSD-3-Clause
"""Which algorithm oriel_alltoallv=auto is on an MPI, as text."""

from __future__ import annotations

from oriel.bench.alltoallv.measured import Exchange, Measured
from oriel.hosts.host import Host
from oriel.report.units import size_text, time_text


def lines(known: Measured, host: Host) -> list[str]:
    """Where something was measured: the fastest algorithm, with the times of all."""
    choices = known.on(host)
    if not choices:
        return [
            "oriel_alltoallv=auto times the first starts of each request and keeps the fastest "
            "algorithm, because there are no measurements for this processor. "
            f"`oriel bench alltoallv --mpi {host.name}` adds them."
        ]
    cells = {
        (line.bytes, (line.nodes, line.ranks)): f"{choice} ({_times_text(line)})"
        for line, choice in choices.items()
    }
    layouts = sorted({layout for _, layout in cells})
    rows = [["", *(_layout_text(ranks, nodes) for nodes, ranks in layouts)]]
    for size in sorted({size for size, _ in cells}):
        rows.append([size_text(size), *(cells.get((size, layout), "–") for layout in layouts)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    table = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)) for row in rows]
    return [
        "oriel_alltoallv=auto is, by what was measured (µs of notified, two_sided, "
        "notified_hierarchy, fence, lock):",
        *(f"  {line.rstrip()}" for line in table),
    ]


def _times_text(line: Exchange) -> str:
    times = [line.notified, line.two_sided, line.notified_hierarchy, line.fence, line.lock]
    return ", ".join("–" if time is None else time_text(time) for time in times)


def _layout_text(ranks: int, nodes: int) -> str:
    return f"{ranks} ranks" if nodes == 1 else f"{ranks} ranks on {nodes} nodes"
