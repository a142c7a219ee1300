# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench stencil`, after Figures 1 and 4b of the paper: the speed of each
variant over the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from oriel.bench import curves, lines, notified_variants
from oriel.bench.curves import Curves
from oriel.bench.stencil.stencil_times import LIMIT, TITLES, StencilTimes
from oriel.bench.variant_times import MESSAGES
from oriel.report.drawing import MUTED

STYLES = {LIMIT: {"color": MUTED, "linewidth": 1, "linestyle": ":", "marker": "."}}


def draw(
    by_ranks: Mapping[int, StencilTimes], versions: Mapping[str, str], where: str, path: Path
) -> None:
    Curves(
        title="Pipelined stencil: speed of all ranks together (higher: faster)",
        cases={scaling: f"{scaling} scaling\nGMOPS" for scaling in lines.cases(by_ranks)},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={**STYLES, **notified_variants.STYLES},
        value=StencilTimes.rate,
        interval=StencilTimes.rate_interval,
        axis=curves.from_zero,
    ).draw(by_ranks, versions, where, path)
