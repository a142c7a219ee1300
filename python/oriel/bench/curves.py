# SPDX-License-Identifier: BSD-3-Clause
"""Curves over the number of ranks, with intervals, as the figures of "Notified Access" have
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from oriel.bench.intervals import CONFIDENCE, Interval
from oriel.bench.lines import hosts
from oriel.bench.ratio_table import Found
from oriel.bench.variant_times import MESSAGES, Case, VariantTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import DASHES, GRID, INK, STYLE, plt

WAYS = {HOST: "alone", ORIEL: "with Oriel"}

_MARGIN = 1.25  # of the logarithmic horizontal axis, on either side
_STEP = 1.03  # from one variant to the next, so that their intervals do not hide one another

ByRanks = Mapping[int, VariantTimes]


@dataclass(frozen=True)
class Curves:
    """What a figure draws: rows of panels by case and way, a column per host; in each panel a curve
    per variant."""

    title: str
    cases: Mapping[Case, str]  # by case: the text beside its panels
    titles: Mapping[str, str]  # of the variants
    styles: Mapping[str, Mapping[str, Any]]
    value: Found
    interval: Callable[[Any, str, Case, str, str], Interval]
    axis: Callable[[Axes], None]  # sets up the vertical one

    def draw(self, by_ranks: ByRanks, versions: Mapping[str, str], where: str, path: Path) -> None:
        """Writes `path` (PNG) and its SVG."""
        columns = hosts(by_ranks)
        rows = [(case, way) for case in self.cases for way in WAYS]
        with plt.rc_context(STYLE):
            figure, grid = plt.subplots(
                len(rows),
                len(columns),
                figsize=(max(9.0, 3.4 * len(columns) + 1.4), 2.3 * len(rows) + 1.4),
                layout="constrained",
                squeeze=False,
                sharex=True,
            )
            handles: dict[str, object] = {}
            for (case, way), row in zip(rows, grid):
                row[0].set_ylabel(f"{self.cases[case]}\n{WAYS[way]}", fontsize=9)
                for host, axes in zip(columns, row):
                    handles |= self._panel(axes, by_ranks, case, host, way)
            for pair in zip(grid[::2], grid[1::2]):
                _share_vertical([axes for row in pair for axes in row])
            for host, top, bottom in zip(columns, grid[0], grid[-1]):
                top.set_title(versions[host], loc="left", fontsize=10)
                bottom.set_xlabel("ranks", fontsize=9)
            drawing.title(figure, self.title)
            foot = f"Shades and bars: {CONFIDENCE:.0%} intervals of the median of a run. {where}"
            drawing.legend(figure, handles.values(), handles.keys(), len(handles), foot)
            drawing.save(figure, path)

    def _panel(
        self, axes: Axes, by_ranks: ByRanks, case: Case, host: str, way: str
    ) -> dict[str, object]:
        """Draws one panel; returns its curves by their labels."""
        handles = {}
        for index, (variant, style) in enumerate(self.styles.items()):
            shift = _STEP ** (index - (len(self.styles) - 1) / 2)
            points = self._points(by_ranks, variant, case, host, way)
            if points:
                places, values = zip(*((ranks * shift, value) for ranks, value in points))
                (line,) = axes.plot(places, values, markersize=5, **style)
                handles[self.titles[variant]] = line
                self._intervals(axes, by_ranks, variant, case, host, way, shift)
        if way == ORIEL:
            points = self._points(by_ranks, MESSAGES, case, host, HOST)
            (line,) = axes.plot(
                [ranks for ranks, _ in points],
                [value for _, value in points],
                color=INK,
                linewidth=1,
                linestyle=DASHES,
                marker="_",
            )
            handles["messages, the host alone"] = line
        axes.set_xscale("log", base=2)
        self.axis(axes)
        axes.set_xticks(list(by_ranks), [str(ranks) for ranks in by_ranks], fontsize=8)
        axes.minorticks_off()
        axes.set_xlim(min(by_ranks) / _MARGIN, max(by_ranks) * _MARGIN)
        axes.yaxis.grid(True, color=GRID)
        axes.tick_params(axis="both", length=0)
        return handles

    def _points(
        self, by_ranks: ByRanks, variant: str, case: Case, host: str, way: str
    ) -> list[tuple[int, float]]:
        points = [
            (ranks, self.value(times, variant, case, host, way))
            for ranks, times in by_ranks.items()
        ]
        return sorted((ranks, value) for ranks, value in points if value)

    def _intervals(
        self,
        axes: Axes,
        by_ranks: ByRanks,
        variant: str,
        case: Case,
        host: str,
        way: str,
        shift: float,
    ) -> None:
        """A shade between the numbers of ranks, and a bar at each."""
        found = sorted(
            (ranks * shift, *interval)
            for ranks, times in by_ranks.items()
            if (interval := self.interval(times, variant, case, host, way))
        )
        if found:
            colour = self.styles[variant]["color"]
            places, low, high = zip(*found)
            axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.vlines(places, low, high, color=colour, linewidth=1)


def _share_vertical(panels: Sequence[Axes]) -> None:
    """The same extent for all, so that the hosts and both ways can be compared."""
    extents = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in extents), max(high for _, high in extents))


def from_zero(axes: Axes) -> None:
    """A vertical axis for speeds."""
    axes.set_ylim(bottom=0)
