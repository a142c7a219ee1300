# SPDX-License-Identifier: BSD-3-Clause
"""Strong scaling of exchanges: with more ranks each sends less to each, so that all together
exchange as much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oriel.bench.alltoallv.alltoallv_times import AlltoallvTimes
from oriel.bench.lines import Line
from oriel.bench.requests.request_options import ELEMENT_BYTES
from oriel.report.units import size_text

# The larger one is what 2 ranks exchange if each sends 2 MB to each, the paper's size. On 2, 4, 8
# and 16 ranks these totals make sizes that differ by a factor of four, as in the other tables.
TOTALS = [32 << 10, 8 << 20]
QUICK_TOTALS = TOTALS[:1]


def bytes_to_each(total: int, ranks: int) -> int:
    """From each rank to each, itself included, in whole elements. 0: the total is too small for so
    many ranks."""
    return total // ranks**2 // ELEMENT_BYTES * ELEMENT_BYTES


def sizes(totals: Sequence[int], ranks: int) -> list[int]:
    return [size for total in totals if (size := bytes_to_each(total, ranks))]


def lines(
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
