# SPDX-License-Identifier: BSD-3-Clause
"""One figure per pattern, after Figures 2 to 11 of the paper, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from oriel.demo.patterns import PATTERNS, WAYS, Observation, Pattern
from oriel.demo.results import Results, Summary
from oriel.report import drawing
from oriel.report.drawing import COLOURS, DASHES, GRID, INK, MUTED, STYLE, plt
from oriel.report.units import size_text

LABELS = {
    "blocking": "Oriel, blocking",
    "nonblocking": "Oriel, nonblocking",
    "off": "flag off",
    "on": "flag on",
}
MARKERS = {"host": "s", "blocking": "^", "nonblocking": "o"}

Series = tuple[str, list["Summary | None"], list["Summary | None"]]  # name, measured, reference


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draws what was measured; returns the PNG files in the order of the paper's figures."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for pattern in PATTERNS:
        sizes = results.sizes(pattern)
        if not sizes:
            continue
        with plt.rc_context(STYLE):
            path = folder / f"figure-{pattern.figure:02}-{pattern.name.replace('_', '-')}.png"
            drawing.save(_draw(results, pattern, sizes), path)
        drawn.append(path)
    return drawn


def _draw(results: Results, pattern: Pattern, sizes: list[int]) -> Figure:
    panels = [
        tuple(what for what in pattern.observations if what.beside_work == beside)
        for beside in (False, True)
    ]
    panels = [panel for panel in panels if panel]
    widths = [3, 2] if len(panels) == 2 else [1]
    figure, grid = plt.subplots(
        1,
        len(panels),
        figsize=(7.6, 4.3),
        layout="constrained",
        squeeze=False,
        gridspec_kw={"width_ratios": widths},
    )
    for axes, panel in zip(grid[0], panels):
        if pattern.shape == "lines":
            handles, labels = _lines(axes, results, pattern, panel[0], sizes)
        elif pattern.shape == "sizes":
            columns = [(panel[0], size) for size in sizes]
            titles = [size_text(size) for size in sizes]
            handles, labels = _bars(axes, results, pattern, columns, titles)
            axes.set_xlabel("size of the put")
        else:
            columns = [(what, sizes[-1]) for what in panel]
            titles = [what.title for what in panel]
            handles, labels = _bars(axes, results, pattern, columns, titles)
        several = pattern.shape == "bars" and len(panel) > 1
        axes.set_ylabel("time (µs)" if several else f"{panel[0].sentence} (µs)", fontsize=9)
        axes.yaxis.grid(True, color=GRID)
        axes.tick_params(axis="both", length=0)
        axes.set_ylim(bottom=0)
    title = f"{pattern.title} ({pattern.flag})" if pattern.flag else pattern.title
    where = f"{results.version}, {drawing.ranks_on(pattern.ranks, results.nodes)}"
    drawing.title(figure, f"Figure {pattern.figure} · {title}")
    grid[0][0].set_title(where, loc="left", fontsize=9, color=MUTED)
    drawing.legend(figure, handles, labels, len(handles))
    return figure


def _names(results: Results, pattern: Pattern) -> tuple[str, ...]:
    if pattern.flag:
        return ("off", "on")
    measured = {key[1] for key in results.samples if key[0] == pattern.name}
    return tuple(way for way in WAYS if way in measured)


def _series(
    results: Results, pattern: Pattern, columns: list[tuple[Observation, int]]
) -> list[Series]:
    series = []
    for name in _names(results, pattern):
        way, variant = ("nonblocking", name) if pattern.flag else (name, "pattern")
        series.append(
            (
                name,
                [results.of(pattern, what, way, size, variant) for what, size in columns],
                [results.of(pattern, what, way, size, "reference") for what, size in columns],
            )
        )
    return series


def _label(results: Results, name: str) -> str:
    return LABELS.get(name) or f"{results.version}'s own"


def _time_text(us: float) -> str:
    return f"{us:,.0f}" if us >= 10 else f"{us:.1f}"


def _bars(
    axes: Axes,
    results: Results,
    pattern: Pattern,
    columns: list[tuple[Observation, int]],
    titles: list[str],
) -> tuple[list, list[str]]:
    series = _series(results, pattern, columns)
    width = 0.8 / len(series)
    handles, labels = [], []
    for index, (name, measured, references) in enumerate(series):
        places = [column - 0.4 + (index + 0.5) * width for column in range(len(columns))]
        heights = [each.median if each else 0.0 for each in measured]
        handles.append(axes.bar(places, heights, width * 0.92, color=COLOURS[name]))
        labels.append(_label(results, name))
        for place, each, reference in zip(places, measured, references):
            if each is None:
                continue
            axes.vlines(place, each.low, each.high, color=MUTED, linewidth=1)
            if reference:
                half = width * 0.46
                axes.hlines(
                    reference.median,
                    place - half,
                    place + half,
                    color=INK,
                    linewidth=1.6,
                    linestyle=DASHES,
                )
        texts = [
            (x, each.median, _time_text(each.median)) for x, each in zip(places, measured) if each
        ]
        outline = withStroke(linewidth=3, foreground="white")
        drawing.label_bars(axes, texts, size=8.5, gap=3, path_effects=[outline])
    handles.append(Line2D([], [], color=INK, linewidth=1.6, linestyle=DASHES))
    labels.append("without the put" if pattern.shape == "sizes" else "nobody late")
    axes.set_xticks(range(len(columns)), titles)
    # The medians decide the scale; the spread of a crowded machine may leave the picture.
    shown = [each for _, *both in series for each in (*both[0], *both[1]) if each]
    axes.set_ylim(0, 1.15 * max((each.median for each in shown), default=1.0))
    return handles, labels


def _lines(
    axes: Axes, results: Results, pattern: Pattern, what: Observation, sizes: list[int]
) -> tuple[list, list[str]]:
    handles, labels = [], []
    for name, measured, _ in _series(results, pattern, [(what, size) for size in sizes]):
        points = [(size, each) for size, each in zip(sizes, measured) if each]
        at = [size for size, _ in points]
        under = name == "host"  # it may coincide with another line: then a broad one shows beside
        handles += axes.plot(
            at,
            [each.median for _, each in points],
            color=COLOURS[name],
            marker=MARKERS[name],
            markersize=9 if under else 5.5,
            linewidth=5 if under else 1.8,
            zorder=WAYS.index(name) + 2,
        )
        axes.fill_between(
            at,
            [each.low for _, each in points],
            [each.high for _, each in points],
            color=COLOURS[name],
            alpha=0.15,
            linewidth=0,
        )
        labels.append(_label(results, name))
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [size_text(size) for size in sizes], fontsize=9)
    axes.minorticks_off()
    axes.set_xlabel("size of the put")
    axes.margins(y=0.12)
    return handles, labels
