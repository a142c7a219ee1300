# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench cholesky`, after Figure 5 of the paper: the speed of a factorization
whose matrix grows with the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from oriel.bench import curves, lines, notified_variants
from oriel.bench.cholesky.cholesky_times import ONE_SIDED, TITLES, CholeskyTimes
from oriel.bench.curves import Curves
from oriel.bench.notified_variants import NOTIFY
from oriel.bench.variant_times import MESSAGES
from oriel.report.drawing import COLOURS


def tiles_text(tiles: int) -> str:
    return f"{tiles} {'tile' if tiles == 1 else 'tiles'} per rank"


def draw(
    by_ranks: Mapping[int, CholeskyTimes], versions: Mapping[str, str], where: str, path: Path
) -> None:
    Curves(
        title="Cholesky factorization: speed of all ranks together (higher: faster)",
        cases={tiles: f"{tiles_text(tiles)}\nGFLOP/s" for tiles in lines.cases(by_ranks)},
        titles={MESSAGES: MESSAGES, **TITLES},
        styles={
            MESSAGES: notified_variants.STYLES[MESSAGES],
            ONE_SIDED: {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8},
            NOTIFY: notified_variants.STYLES[NOTIFY],
        },
        value=CholeskyTimes.rate,
        interval=CholeskyTimes.rate_interval,
        axis=curves.from_zero,
    ).draw(by_ranks, versions, where, path)
