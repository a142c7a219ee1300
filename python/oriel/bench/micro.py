# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench micro`: the time of one-sided calls, each host MPI alone against Oriel on it."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oriel.bench import micro_history, outcome
from oriel.bench.micro_times import (
    CONTENDED,
    EVERY_OPERATION,
    MAPPED,
    MESSAGES,
    SETS,
    STATISTICS,
    USUAL,
    WINDOWS,
    Row,
    Timings,
    title_of,
)
from oriel.bench.rounds import FORMS, Run, carry_out
from oriel.bench.setting import Setting
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts.host import own_program
from oriel.hosts.mpi_kinds import kind_of
from oriel.hosts.nodes import Nodes
from oriel.report import drawing
from oriel.report.drawing import INK, MUTED, STYLE, plt
from oriel.report.units import size_text

# Ours in blue where it takes less time, in orange where it takes more; equal is nearly white.
SCALE = LinearSegmentedColormap.from_list("ratio", ["#14648c", "#f7f7f5", "#d9822b"])
MOST = 4.0  # a ratio, or its inverse, at which the colour is full
FEW = 8  # rows below which the panels are one below the other

# Of a row on a host, one way: microseconds, None where not measured.
Statistic = Callable[[Timings, Row, str, str], "float | None"]


def _tint(ratio: float) -> tuple:
    return SCALE(Normalize(-1, 1)(max(-1.0, min(1.0, math.log(ratio, MOST)))))


def _panel(
    axes: Axes,
    timings: Timings,
    row_set: str,
    names: list[str],
    window: str,
    sizes: list[int],
    value: Statistic,
) -> None:
    """Rows by name, columns by size and host: our ratio, and where it is not as promised, a
    frame."""
    hosts = timings.hosts()
    columns = [(size, host) for size in sizes for host in hosts]
    for line, name in enumerate(names):
        for column, (size, host) in enumerate(columns):
            row = Row(row_set, name, window, size)
            ratio = timings.ratio(row, host, value)
            if ratio is None:
                continue
            missed = ratio > timings.limit(row)
            edge = INK if missed else "white"
            axes.add_patch(
                plt.Rectangle(
                    (column + 0.04, line + 0.06),
                    0.92,
                    0.88,
                    facecolor=_tint(ratio),
                    edgecolor=edge,
                    linewidth=1.1 if missed else 0.4,
                )
            )
            dark = abs(math.log(ratio, MOST)) > 0.75
            axes.text(
                column + 0.5,
                line + 0.52,
                f"{ratio:.2f}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if dark else INK,
            )
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(names), 0)
    axes.set_xticks(
        [column + 0.5 for column in range(len(columns))],
        [kind_of(host).title for _, host in columns],
        fontsize=7,
        rotation=40,
        ha="right",
        rotation_mode="anchor",
    )
    for place, size in enumerate(sizes):
        axes.text(
            (place + 0.5) * len(hosts), -0.25, size_text(size), ha="center", fontsize=8, color=MUTED
        )
    axes.set_title(f"{window} windows", loc="left", fontsize=10, pad=18)
    axes.tick_params(axis="both", length=0)
    axes.spines["bottom"].set_visible(False)


def _draw(
    timings: Timings, row_set: str, subject: str | None, value: Statistic, where: str, path: Path
) -> None:
    """Every row's ratio to the best host as a coloured cell: a panel for each kind of
    window."""
    drawn = [row for row in timings.rows() if row.set == row_set]
    names = list(dict.fromkeys(row.name for row in drawn))
    sizes = {
        window: sorted({row.size for row in drawn if row.window == window})
        for window in WINDOWS
        if any(row.window == window for row in drawn)
    }
    widths = [len(timings.hosts()) * len(each) for each in sizes.values()]
    stacked = len(names) < FEW
    lines = len(sizes) if stacked else 1
    width = max(widths) if stacked else sum(widths)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            lines,
            len(sizes) // lines,
            figsize=(max(5.4, 3.4 + 0.44 * width), 1.0 + lines * (0.9 + 0.24 * len(names))),
            width_ratios=None if stacked else widths,
            layout="constrained",
            squeeze=False,
        )
        for place, (axes, window) in enumerate(zip(grid.flat, sizes)):
            _panel(axes, timings, row_set, names, window, sizes[window], value)
            labels = [title_of(name) for name in names] if stacked or place == 0 else []
            axes.set_yticks([line + 0.5 for line in range(len(labels))], labels, fontsize=8)
            axes.yaxis.set_tick_params(labelcolor=INK)
        title = "Oriel's time against the best MPI library's own"
        drawing.title(figure, f"{title}:\n{subject}" if subject else title)
        bar = figure.colorbar(
            ScalarMappable(Normalize(-1, 1), SCALE),
            ax=grid,
            shrink=0.9 if stacked else 0.5,
            aspect=18,
            pad=0.01,
        )
        bar.ax.tick_params(labelsize=7)
        bar.set_ticks([-1, -0.5, 0, 0.5, 1], labels=["0.25", "0.5", "1", "2", "4"])
        bar.outline.set_visible(False)
        framed = plt.Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=INK)
        drawing.legend(figure, [framed], ["more than promised"], 1, where)
        drawing.save(figure, path)


TIMEOUT_S = 180
EVERY_TIMEOUT_S = 900
# What --all measures: no contended rows, because their number of ranks is chosen for each run.
ALL_SETS = tuple(each for each in SETS if each not in (USUAL, CONTENDED))
SET_TITLES = {
    "sizes": "1 to 8,192 elements",
    "vectors": "vectors of 8 B in every 16 B of the target",
    CONTENDED: "all ranks at one word of rank 0",
}
# Between nodes: what travels with its synchronization, what is cut into pieces, and in between.
NETWORK_SIZES = ("8", "4096", "65536", "1048576", "4194304")
QUICK_OPTIONS = ("--batches", "3", "--batch-us", "50")
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3
WINDOW_TITLES = {
    "allocated": "Allocated windows (MPI_Win_allocate)",
    "created": "Created windows (MPI_Win_create on whole pages of the program)",
    "dynamic": "Dynamic windows (MPI_Win_create_dynamic, pages of the program attached)",
    "none": "No window: messages in a program without windows",
}


def _sets(arguments: argparse.Namespace) -> tuple[str, ...]:
    if arguments.set:
        return (arguments.set,)
    return ALL_SETS if arguments.all else (USUAL, MESSAGES)


def _shares_cores(arguments: argparse.Namespace, setting: Setting) -> bool:
    return arguments.crowded or arguments.n > setting.machine["cores"]


def _options(arguments: argparse.Namespace, setting: Setting, nodes: Nodes | None) -> list[str]:
    """Of the program."""
    options = [*QUICK_OPTIONS] if arguments.quick else []
    if _shares_cores(arguments, setting):
        options += ["--crowded", "yes"]
    if nodes:
        options += [word for size in NETWORK_SIZES for word in ("--bytes", size)]
    return options


def _measure(
    setting: Setting, arguments: argparse.Namespace, runs: int, nodes: Nodes | None
) -> tuple[Timings, list[str]]:
    options = _options(arguments, setting, nodes)
    timings = Timings(between_nodes=nodes is not None)

    def round_of(number: int) -> list[Run]:
        """The ways alternate, and so do the hosts, so that what disturbs the machine for a while
        disturbs all; every second time ours comes first."""
        return [
            Run(
                f"{host.title}, {row_set}, {FORMS[way].title}",
                host,
                arguments.n,
                [str(own_program(host, "micro")), "--set", row_set, *options],
                FORMS[way],
                partial(timings.read, host.name, way),
                EVERY_TIMEOUT_S if row_set == EVERY_OPERATION else TIMEOUT_S,
            )
            for host in setting.hosts
            for row_set in _sets(arguments)
            for way in (WAYS if number % 2 == 0 else reversed(WAYS))
        ]

    failures = carry_out([run for number in range(runs) for run in round_of(number)], nodes)
    for number in range(runs, runs if arguments.quick else MOST_ROUNDS * runs):
        if failures or timings.enough(runs):
            break
        failures = carry_out(round_of(number), nodes)
    return timings, failures


def _microseconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _ours(timings: Timings, row: Row, host: str, by: str) -> Text:
    value = STATISTICS[by]
    ratio = timings.ratio(row, host, value)
    if ratio is None:
        return Text("–")
    late = row.has_window and ratio > timings.limit(row)
    cell = f"{_microseconds(value(timings, row, host, ORIEL))}  {ratio:.2f}×{'!' if late else ' '}"
    return Text(cell, style="red" if late else "")


def _table(timings: Timings, row_set: str, window: str, by: str) -> Table:
    title = "; ".join(filter(None, [WINDOW_TITLES[window], SET_TITLES.get(row_set)]))
    table = Table(title=f"{title}: {by} µs", title_justify="left")
    table.add_column("Row")
    hosts = timings.hosts()
    for host in hosts:
        table.add_column(kind_of(host).title, justify="right")
    for host in hosts:
        table.add_column(f"Oriel on {kind_of(host).title}", justify="right")
    for row in timings.rows():
        if (row.set, row.window) == (row_set, window):
            theirs = [_microseconds(STATISTICS[by](timings, row, host, HOST)) for host in hosts]
            table.add_row(row.title, *theirs, *(_ours(timings, row, host, by) for host in hosts))
    return table


def verdicts(timings: Timings) -> list[str]:
    """How far what was promised holds, as sentences."""
    rows = [row for row in timings.rows() if row.has_window]
    short = [row for row in rows if timings.limit(row) < 1]
    others = [row for row in rows if row not in short]
    groups = [
        (
            [row for row in short if row.window == window],
            f"8 B rows on {window} windows",
            "at most half of the best host's time",
        )
        for window in MAPPED
    ]
    groups.append((others, "other rows", "not slower than the best host"))
    sentences = []
    for members, name, promise in groups:
        pairs = sum(
            timings.ratio(row, host) is not None for row in members for host in timings.hosts()
        )
        if not pairs:
            continue
        missed = len(timings.misses(members))
        missed_fastest = len(timings.misses(members, Timings.fastest))
        sentences.append(
            f"{name}, {promise}: {pairs - missed} of {pairs} by the median, "
            f"{pairs - missed_fastest} of {pairs} by the fastest batch."
        )
    return sentences


def _save(path: Path, results: dict, console: Console) -> None:
    line = micro_history.entry(results)
    lines = micro_history.append(path, line)
    figure = path.with_suffix(".png")
    micro_history.draw(lines, figure)
    numbers = ", ".join(
        f"{kind_of(host).title} {number:.3f}" for host, number in line["number"].items()
    )
    console.print(
        f"Oriel's time against the same host's, geometric mean over the rows: {numbers}. Added to "
        f"{path}; {figure} has all runs of this setting.",
        highlight=False,
    )


def run(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    setting = Setting.of(arguments, "micro")
    if arguments.crowded:
        # What is started from here inherits it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    runs = 1 if arguments.quick else arguments.runs
    timings, failures = _measure(setting, arguments, runs, nodes)
    for row_set, window in dict.fromkeys((row.set, row.window) for row in timings.rows()):
        console.print(_table(timings, row_set, window, arguments.by))
    console.print(
        "×: ours against the best host's own time in the row; without windows, against the same "
        "host. !: more than promised.",
        highlight=False,
    )
    if arguments.crowded:
        place_notes = [f"All {arguments.n} ranks share one core: they wait for it in turn."]
    else:
        place_notes = setting.crowded(arguments.n)
        if not nodes and not _shares_cores(arguments, setting):
            place_notes.append(timings.told_distances())
    place = setting.place(f"{arguments.n} ranks; {runs} runs or more")
    results = setting.results(
        timings.as_json(),
        runs=runs,
        ranks=arguments.n,
        crowded=arguments.crowded,
        quick=arguments.quick,
    )

    path = arguments.output / "micro.png"
    first, *others = [each for each in _sets(arguments) if each != MESSAGES]
    figures = {first: path, **{each: path.with_name(f"micro_{each}.png") for each in others}}

    def draw(where: str, _: Path) -> None:
        for row_set, its_path in figures.items():
            value = STATISTICS[arguments.by]
            _draw(timings, row_set, SET_TITLES.get(row_set), value, where, its_path)

    notes = [*verdicts(timings), *place_notes]
    names = [each.name for each in figures.values()]
    status = outcome.report(console, notes, failures, place, results, path, draw, names)
    if arguments.save and status == 0:
        _save(arguments.save, results, console)
    return status
