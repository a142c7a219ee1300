# SPDX-License-Identifier: BSD-3-Clause
"""A table of times by size, as ratios to the messages of the host alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.table import Table

from oriel.bench.variant_times import MESSAGES, VariantTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.report.units import size_text

WAY_TITLES = {HOST: "own", ORIEL: "Oriel"}


def ratio_text(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value == 0 or value >= 0.1 else f"{value:.1g}"


def _time(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def size_table(
    times: VariantTimes,
    host: str,
    title: str,
    variants: Mapping[str, str],
    ways: Callable[[str], Sequence[str]],
    papers: Mapping[str, Mapping[str, Mapping[int, float]]],
) -> Table:
    """A row per size; behind the messages, columns for each of the variants (by name: the title) in
    its ways, and for each paper that has it (by name: variant, size and ratio)."""
    table = Table(title=title, title_justify="left")
    table.add_column("Size", justify="right")
    table.add_column("messages\nown (µs)", justify="right", no_wrap=True)
    table.add_column("messages\nOriel", justify="right", no_wrap=True)
    for variant, name in variants.items():
        for what in (*ways(variant), *(paper for paper in papers if variant in papers[paper])):
            table.add_column(f"{name}\n{WAY_TITLES.get(what, what)}", justify="right")
    for size in times.cases():
        cells = [
            size_text(size),
            _time(times.median(MESSAGES, size, host, HOST)),
            ratio_text(times.ratio(MESSAGES, size, host, ORIEL)),
        ]
        for variant in variants:
            cells += [ratio_text(times.ratio(variant, size, host, way)) for way in ways(variant)]
            cells += [
                ratio_text(ratios[variant].get(size))
                for ratios in papers.values()
                if variant in ratios
            ]
        table.add_row(*cells)
    return table
