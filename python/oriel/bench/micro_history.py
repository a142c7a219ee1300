# SPDX-License-Identifier: BSD-3-Clause
"""The file of `oriel bench micro --save`: a line of JSON for each run; its figure over commits."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from oriel.bench.ways import HOST, ORIEL
from oriel.report import drawing
from oriel.report.drawing import COLOURS, GRID, INK, STYLE, plt

# What two lines must have in common for their times to be compared.
SETTING = ("processor", "cores", "nodes", "ranks", "crowded", "quick", "hosts")
STATISTICS = ("median", "fastest")
SHORT_COMMIT = 8
MARGIN = 8  # of the vertical axis, around the tracked number
WITHOUT_WINDOW = " none "  # in the name of a row of messages


def entry(results: dict) -> dict:
    """A line of the file, of the results of one run of the benchmark: where it ran; by host and row
    the median and the fastest batch in microseconds, of the host alone and with Oriel; and by host
    the tracked number."""
    machine = results["machine"]
    times: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in results["rows"]:
        name = " ".join(str(row[each]) for each in ("set", "row", "window", "bytes"))
        of_row = times.setdefault(row["host"], {}).setdefault(name, {})
        for statistic in STATISTICS:
            of_row.setdefault(statistic, {})[row["way"]] = row[statistic]
    return {
        "commit": machine["commit"],
        "date": machine["date"],
        "processor": machine["processor"],
        "cores": machine["cores"],
        **{name: results[name] for name in ("hosts", "nodes", "ranks", "crowded", "quick")},
        "number": {host: number(rows) for host, rows in times.items()},
        "times": times,
    }


def number(rows: dict[str, dict]) -> float:
    """The tracked number: Oriel's time divided by the host's in the same run, as the geometric mean
    over the rows with a window; by the fastest batch, which other work disturbs least."""
    return round(
        statistics.geometric_mean(
            ratio(row) for name, row in rows.items() if WITHOUT_WINDOW not in name
        ),
        4,
    )


def ratio(row: dict) -> float:
    return row["fastest"][ORIEL] / row["fastest"][HOST]


def append(path: Path, line: dict) -> list[dict]:
    """Adds a line; returns all of the file that ran in the setting of this one, oldest first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    lines = [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]
    return [each for each in lines if all(each[name] == line[name] for name in SETTING)]


def _panel(axes: Axes, lines: Sequence[dict], host: str) -> None:
    places = range(len(lines))
    rows = dict.fromkeys(name for line in lines for name in line["times"][host])
    for name in rows:
        found = [line["times"][host].get(name) for line in lines]
        ratios = [ratio(row) if row else math.nan for row in found]
        axes.plot(places, ratios, color=COLOURS["host"], linewidth=0.8)
    numbers = [line["number"][host] for line in lines]
    axes.plot(places, numbers, color=COLOURS["nonblocking"], linewidth=2, marker="o", markersize=4)
    axes.axhline(1.0, color=INK, linewidth=1)
    drawing.logarithmic(axes)
    # A row that was disturbed once may leave the panel.
    axes.set_ylim(min(numbers) / MARGIN, max(*numbers, 1.0) * MARGIN)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(lines[-1]["hosts"][host], loc="left", fontsize=10)
    axes.set_ylabel("Oriel / the host alone", fontsize=9)
    axes.yaxis.grid(True, color=GRID)
    axes.tick_params(axis="both", length=0)


def draw(lines: Sequence[dict], path: Path) -> None:
    """Writes `path` (PNG) and its SVG: a panel per host, the tracked number over the commits."""
    hosts = list(lines[-1]["times"])
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(hosts),
            1,
            figsize=(max(6.0, 2.0 + 0.3 * len(lines)), 1.6 + 2.2 * len(hosts)),
            layout="constrained",
            squeeze=False,
            sharex=True,
        )
        for host, axes in zip(hosts, grid.flat):
            _panel(axes, lines, host)
        commits = [(line["commit"] or "?")[:SHORT_COMMIT] for line in lines]
        grid[-1, 0].set_xticks(range(len(lines)), commits, fontsize=7, rotation=90)
        drawing.title(figure, "One-sided calls over the commits")
        handles = [
            plt.Line2D([], [], color=COLOURS["nonblocking"], marker="o"),
            plt.Line2D([], [], color=COLOURS["host"]),
        ]
        last = lines[-1]
        where = f"{last['processor']}, {last['cores']} cores; {last['ranks']} ranks"
        drawing.legend(figure, handles, ["geometric mean", "a row each"], 2, where)
        drawing.save(figure, path)
