# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the host's own calls and of Oriel's persistent requests, and sentences about them."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table

from oriel.bench.lines import Line
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.requests.request_times import NEVER
from oriel.bench.ways import ORIEL, WAYS
from oriel.report.units import time_text


@dataclass(frozen=True)
class Column:
    title: str
    cell: Callable[[Line, str], str]  # of a line, on a host


def hosts(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(host for line in lines for host in line.times.hosts()))


def table(
    title: str, labels: Sequence[str], columns: Sequence[Column], lines: Iterable[Line], host: str
) -> Table:
    drawn = Table(title=title, title_justify="left", padding=(0, 1, 0, 0))
    for label in labels:
        drawn.add_column(label, justify="right", overflow="fold")
    for column in columns:
        drawn.add_column(column.title, justify="right", no_wrap=True)
    for line in lines:
        drawn.add_row(*line.labels, *(column.cell(line, host) for column in columns))
        if line.section:
            drawn.add_section()
    return drawn


def time_column(title: str, variant: str, way: str) -> Column:
    def cell(line: Line, host: str) -> str:
        key = (variant, line.case, host, way)
        return "failed" if key in line.times.failures else time_text(line.times.median(*key))

    return Column(title, cell)


def ratio_column(title: str, variant: str) -> Column:
    """Of a variant of Oriel's."""
    return Column(
        title, lambda line, host: ratio_text(line.times.ratio(variant, line.case, host, ORIEL))
    )


def making_column(title: str, variant: str, way: str) -> Column:
    """In brackets: after how many rounds it is earned back."""

    def cell(line: Line, host: str) -> str:
        key = (variant, line.case, host, way)
        if key in line.times.failures:
            return "failed"
        breakeven = line.times.breakeven(*key)
        if breakeven is None:
            return "–"
        making_us = line.times.making(*key)
        # Short, so that a line has room for all.
        making_text = f"{making_us:.1f}" if making_us < 10 else time_text(making_us)
        return f"{making_text} ({'never' if breakeven == NEVER else f'{breakeven:,}'})"

    return Column(title, cell)


def reasons(lines: Iterable[Line], versions: dict[str, str]) -> list[str]:
    """Why variants failed, a sentence for each host and reason."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for line in lines:
        for (variant, case, host, way), reason in line.times.failures.items():
            names = found[host, way, reason]
            name = line.times.called(variant)
            if case == line.case and name not in names:
                names.append(name)
    return [
        f"{versions[host]}, {WAY_TITLES[way]}: {', '.join(names)} failed: {reason.rstrip('.')}."
        for (host, way, reason), names in found.items()
        if names
    ]


def verdicts(lines: Sequence[Line], versions: dict[str, str], variant: str, name: str) -> list[str]:
    """How this variant of Oriel's compares with the host's fastest call, a sentence for each
    host."""
    sentences = []
    for host in hosts(lines):
        ratios = [
            (ratio, line.name)
            for line in lines
            if (ratio := line.times.ratio(variant, line.case, host, ORIEL))
        ]
        if not ratios:
            continue
        below = sum(ratio <= 1 for ratio, _ in ratios)
        worst, where = max(ratios)
        sentences.append(
            f"{versions[host]}: {name} takes no longer than the fastest of the host's own calls in "
            f"{below} of {len(ratios)} rows; the worst is {worst:.2f} times ({where})."
        )
    return sentences


def preloaded(lines: Sequence[Line], versions: dict[str, str], name: str) -> list[str]:
    """What the host's blocking call takes with Oriel preloaded, a sentence for each host."""
    sentences = []
    for host in hosts(lines):
        pairs = [
            [line.times.median(line.times.baseline, line.case, host, way) for way in WAYS]
            for line in lines
        ]
        ratios = [ours / own for own, ours in pairs if own and ours]
        if ratios:
            sentences.append(
                f"{versions[host]}: with Oriel preloaded {name} takes "
                f"{statistics.median(ratios):.2f} of its time (median; {min(ratios):.2f} to "
                f"{max(ratios):.2f})."
            )
    return sentences
