# SPDX-License-Identifier: BSD-3-Clause
"""A table of what was measured, as ratios to the messages of the host alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from rich.table import Table

from oriel.bench.lines import Line
from oriel.bench.speed_times import SpeedTimes
from oriel.bench.variant_times import MESSAGES, Case, VariantTimes
from oriel.bench.ways import HOST, ORIEL

WAY_TITLES = {HOST: "own", ORIEL: "Oriel"}

# Takes times, variant, case, host and way.
Found = Callable[[Any, str, Case, str, str], Optional[float]]


@dataclass(frozen=True)
class Scale:
    """What a table shows of its times."""

    unit: str
    value: Found
    ratio: Found


TIME = Scale("µs", VariantTimes.median, VariantTimes.ratio)


def speed(unit: str) -> Scale:
    return Scale(unit, SpeedTimes.rate, SpeedTimes.speed)


def ratio_text(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value == 0 or value >= 0.1 else f"{value:.1g}"


def _value(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def ratio_table(
    lines: Iterable[Line],
    labels: Sequence[str],
    host: str,
    title: str,
    scale: Scale,
    variants: Mapping[str, str],
    ways: Callable[[str], Sequence[str]],
    papers: Mapping[str, Mapping[str, Mapping[Case, float]]],
) -> Table:
    """Behind the messages, columns for each of the variants (by name: the title) in its ways, and
    for each paper that has it (by name: variant, case and ratio)."""
    table = Table(title=title, title_justify="left")
    for label in labels:
        table.add_column(label, justify="right", no_wrap=True)
    table.add_column(f"messages\nown ({scale.unit})", justify="right", no_wrap=True)
    table.add_column("messages\nOriel", justify="right", no_wrap=True)
    for variant, name in variants.items():
        for what in (*ways(variant), *(paper for paper in papers if variant in papers[paper])):
            table.add_column(f"{name}\n{WAY_TITLES.get(what, what)}", justify="right")
    for line in lines:
        times, case = line.times, line.case
        cells = [
            *line.labels,
            _value(scale.value(times, MESSAGES, case, host, HOST)),
            ratio_text(scale.ratio(times, MESSAGES, case, host, ORIEL)),
        ]
        for variant in variants:
            cells += [
                ratio_text(scale.ratio(times, variant, case, host, way)) for way in ways(variant)
            ]
            cells += [
                ratio_text(ratios[variant].get(case))
                for ratios in papers.values()
                if variant in ratios
            ]
        table.add_row(*cells, end_section=line.section)
    return table
