# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `oriel bench collectives`: the time of Oriel's requests against the fastest of the
host's own calls, a panel for each host and number of ranks."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from oriel.bench.collectives.collectives_times import CollectivesTimes
from oriel.bench.ratio_table import ratio_text
from oriel.report import drawing
from oriel.report.drawing import GRID, INK, STYLE, plt
from oriel.report.units import size_text

BARS = LinearSegmentedColormap.from_list("sizes", ["#a9cbdc", "#14648c", "#0b2f45"])
TITLE = "Persistent collectives against the host's own calls: below 1 Oriel takes less time"
GROUP = 0.84  # of the place of a collective, for its bars
MARGIN = 0.14  # of the height, above and below the bars for their numbers


def draw(
    times: CollectivesTimes, versions: dict[str, str], nodes: int, where: str, path: Path
) -> None:
    """Writes the figure (PNG and SVG)."""
    hosts, all_ranks, sizes = times.hosts(), times.ranks(), times.sizes()
    colours = [BARS(place / max(1, len(sizes) - 1)) for place in range(len(sizes))]
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(all_ranks),
            len(hosts),
            figsize=(max(9.0, 5.0 * len(hosts) + 1.0), 2.9 * len(all_ranks) + 1.4),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        for ranks, row in zip(all_ranks, grid):
            for host, axes in zip(hosts, row):
                _bars(axes, times, ranks, host, colours)
                title = f"{versions[host]}, {drawing.ranks_on(ranks, nodes)}"
                axes.set_title(title, loc="left", fontsize=10)
            row[0].set_ylabel("Oriel / the host's fastest", fontsize=9)
        low, high = grid[0, 0].get_ylim()
        room = (high / low) ** MARGIN
        grid[0, 0].set_ylim(low / room, high * room)
        drawing.title(figure, TITLE)
        handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
        drawing.legend(figure, handles, [size_text(size) for size in sizes], len(sizes), where)
        drawing.save(figure, path)


def _bars(axes: Axes, times: CollectivesTimes, ranks: int, host: str, colours: list) -> None:
    """From 1 up or down to the ratio."""
    sizes = times.sizes()
    width = GROUP / len(sizes)
    above, below = [], []
    for group, call in enumerate(times.calls()):
        for number, (size, colour) in enumerate(zip(sizes, colours)):
            place = group + (number + 0.5) * width - GROUP / 2
            ratio = times.ratio(call, ranks, size, host)
            if ratio:
                axes.bar(place, ratio - 1, 0.9 * width, bottom=1, color=colour)
            text = ratio_text(ratio) if ratio is None or ratio < 10 else f"{ratio:.0f}"
            (above if ratio is None or ratio >= 1 else below).append((place, ratio or 1, text))
    axes.axhline(1, color=INK, linewidth=0.8)
    drawing.logarithmic(axes)
    drawing.label_bars(axes, above, 5.5, rotation=90, va="bottom")
    drawing.label_bars(axes, below, 5.5, gap=-2, rotation=90, va="top")
    names = [call.replace("neighbor_", "neighbor_\n") for call in times.calls()]
    axes.set_xticks(range(len(names)), names, fontsize=7)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)
    axes.tick_params(axis="y", labelsize=8)
