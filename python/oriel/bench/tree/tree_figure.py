# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench tree`, after Figure 4c of the paper: the time of a reduction over the
number of ranks, for the smallest and the largest contribution."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from oriel.bench import lines, notified_variants
from oriel.bench.curves import Curves
from oriel.bench.tree.tree_times import REDUCE, TITLES, TreeTimes
from oriel.bench.variant_times import MESSAGES
from oriel.report import drawing
from oriel.report.drawing import DASHES, MUTED
from oriel.report.units import size_text

STYLES = {REDUCE: {"color": MUTED, "marker": "v", "linestyle": DASHES, "linewidth": 1.8}}


def draw(
    by_ranks: Mapping[int, TreeTimes],
    arity: int,
    versions: Mapping[str, str],
    where: str,
    path: Path,
) -> None:
    sizes = lines.cases(by_ranks)
    Curves(
        title=f"Reduction along a tree of arity {arity} (lower: faster)",
        cases={size: f"{size_text(size)}: time (µs)" for size in (sizes[0], sizes[-1])},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={**STYLES, **notified_variants.STYLES},
        value=TreeTimes.median,
        interval=TreeTimes.interval,
        axis=drawing.logarithmic,
    ).draw(by_ranks, versions, where, path)
