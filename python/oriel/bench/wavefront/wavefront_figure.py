# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench wavefront`: each variant against the messages of the best host, over
the columns of each rank."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from oriel.bench.ratio_panels import RatioPanels
from oriel.bench.variant_times import MESSAGES
from oriel.bench.wavefront.wavefront_times import TITLES, WavefrontTimes


def draw(
    times: WavefrontTimes, ranks: int, versions: Mapping[str, str], where: str, path: Path
) -> None:
    RatioPanels(
        title=f"Pipelined stencil, {ranks} ranks: time of a row (below 1: less)",
        case_axis="columns of each rank",
        ratio_axis="time / the best host's messages",
        case_text=str,
        titles={MESSAGES: MESSAGES, **TITLES},
    ).draw(times, versions, where, path)
