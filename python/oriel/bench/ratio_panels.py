# SPDX-License-Identifier: BSD-3-Clause
"""Figures of ratios to messages over the cases of a benchmark: a row of panels per host, a panel
per variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from oriel.bench.variant_times import Case, VariantTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, INK, STYLE, plt

WAYS = {
    HOST: (
        "the host's own",
        {"color": COLOURS["host"], "marker": "s", "linewidth": 3, "markersize": 6},
    ),
    ORIEL: (
        "with Oriel",
        {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 1.8, "markersize": 5},
    ),
}


@dataclass(frozen=True)
class PaperLine:
    """The ratios of a paper, by variant and case, and how they are drawn."""

    ratios: Mapping[str, Mapping[Case, float]]
    style: Mapping[str, Any]


@dataclass(frozen=True)
class RatioPanels:
    title: str
    case_axis: str
    ratio_axis: str
    case_text: Callable[[Case], str]
    titles: Mapping[str, str]  # of the variants
    papers: Mapping[str, PaperLine] = field(default_factory=dict)  # by their labels

    def draw(
        self, times: VariantTimes, versions: Mapping[str, str], where: str, path: Path
    ) -> None:
        """Writes `path` (PNG) and its SVG."""
        hosts = times.hosts()
        with plt.rc_context(STYLE):
            figure, grid = plt.subplots(
                len(hosts),
                len(self.titles),
                figsize=(3 * len(self.titles) + 1, 2.9 * len(hosts) + 1.2),
                layout="constrained",
                squeeze=False,
                sharex=True,
                sharey=True,
            )
            handles: dict[str, object] = {}
            for host, row in zip(hosts, grid):
                for variant, axes in zip(self.titles, row):
                    handles |= self._lines(axes, times, variant, host)
                    title = f"{versions[host]}, {self.titles[variant]}"
                    axes.set_title(title, loc="left", fontsize=10)
            for axes in grid[-1]:
                axes.set_xlabel(self.case_axis, fontsize=9)
            for axes in grid[:, 0]:
                axes.set_ylabel(self.ratio_axis, fontsize=9)
            drawing.title(figure, self.title)
            drawing.legend(figure, handles.values(), handles.keys(), len(handles), where)
            drawing.save(figure, path)

    def _lines(self, axes: Axes, times: VariantTimes, variant: str, host: str) -> dict[str, object]:
        """Draws one panel; returns its lines by their labels."""
        cases = times.cases()
        handles = {}
        for label, paper in self.papers.items():
            ratios = paper.ratios.get(variant, {})
            (handles[label],) = axes.plot(list(ratios), list(ratios.values()), **paper.style)
        for way, (label, style) in WAYS.items():
            found = {case: times.ratio(variant, case, host, way) for case in cases}
            ratios = {case: ratio for case, ratio in found.items() if ratio}
            (handles[label],) = axes.plot(list(ratios), list(ratios.values()), **style)
        axes.axhline(1.0, color=INK, linewidth=1)
        axes.set_xscale("log", base=2)
        drawing.logarithmic(axes)
        axes.set_xticks(cases, [self.case_text(case) for case in cases], fontsize=7, rotation=30)
        axes.yaxis.grid(True, color=GRID)
        axes.tick_params(axis="both", length=0)
        return handles
