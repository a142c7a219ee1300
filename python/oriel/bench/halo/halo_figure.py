# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench halo`: each kind of epoch against messages, over the size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from oriel.bench.halo.halo_times import PAPER, PAPER_TITLES, TITLES, HaloTimes
from oriel.bench.ratio_panels import PaperLine, RatioPanels
from oriel.report.drawing import COLOURS, MUTED
from oriel.report.units import size_text

PAPER_STYLES = {
    "cluster": {"color": MUTED, "linewidth": 1, "linestyle": ":"},
    "SMP": {"color": COLOURS["blocking"], "linewidth": 1, "linestyle": "--"},
}


def draw(times: HaloTimes, versions: Mapping[str, str], where: str, path: Path) -> None:
    ranks = " × ".join(str(extent) for extent in times.grid)
    title = f"Exchange of ghost cells, {ranks} ranks: time against point-to-point (below 1: less)"
    RatioPanels(
        title=title,
        case_axis="size of a message",
        ratio_axis="time / the host's messages",
        case_text=size_text,
        titles=TITLES,
        papers={
            PAPER_TITLES[paper]: PaperLine(PAPER[paper], style)
            for paper, style in PAPER_STYLES.items()
        },
    ).draw(times, versions, where, path)
