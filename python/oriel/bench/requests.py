# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks of persistent collectives share: the times of a collective by the host's own
calls and by Oriel's persistent requests (of a round, of making a request, and after how many rounds
that is earned back), and their tables."""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.table import Table

from oriel.bench.lines import Line
from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.variant_times import Case, Key, VariantTimes
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.report.units import time_text

TIMEOUT_S = 300
QUICK_SIZES = [8, 32 << 10]
QUICK_OPTIONS = ("--batches", "2", "--batch-us", "50", "--limit-ms", "5")
NEVER = math.inf


def lengths(arguments: argparse.Namespace) -> tuple[int, Sequence[str]]:
    """The rounds, and the program's options."""
    if arguments.quick:
        return 1, QUICK_OPTIONS
    return arguments.rounds, ("--batches", str(arguments.batches))


@dataclass
class RequestTimes(VariantTimes):
    """A case is a number of bytes."""

    case_name = "bytes"
    own: ClassVar[tuple[str, ...]]  # the variants that are the host's calls
    baseline: ClassVar[str]  # the one of them against which a request's making is earned back

    makings: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[Key, str] = field(default_factory=dict)

    def read(self, host: str, way: str, output: str) -> int:
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            self.take(host, way, line)
        return len(lines)

    def take(self, host: str, way: str, line: dict) -> None:
        key = (line["variant"], line[self.case_name], host, way)
        if "failed" in line:
            self.failures[key] = line["failed"]
            return
        self.runs[key].append(line["samples"])
        if "making" in line:
            self.makings[key].append(line["making"])

    def called(self, variant: str) -> str:
        """In a sentence."""
        return variant

    def making(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Making a request and freeing it: median over the runs of each run's median."""
        runs = self.makings.get((variant, case, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def fastest_own(self, case: Case, host: str) -> float | None:
        """Of the calls of the host alone."""
        own = [self.median(variant, case, host, HOST) for variant in self.own]
        return min((time for time in own if time), default=None)

    def ratio(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """To the fastest call of the host alone: below 1 is less time."""
        ours = self.median(variant, case, host, way)
        own = self.fastest_own(case, host)
        return ours / own if ours and own else None

    def breakeven(self, variant: str, case: Case, host: str, way: str) -> float | None:
        """Equation 3 of the paper: after how many rounds the request's making is earned back
        against the host's blocking call; NEVER where a round does not take less time."""
        making = self.making(variant, case, host, way)
        ours = self.median(variant, case, host, way)
        own = self.median(self.baseline, case, host, HOST)
        if making is None or ours is None or own is None:
            return None
        return math.ceil(making / (own - ours)) if own > ours else NEVER

    def as_json(self) -> list[dict]:
        rows = []
        for (variant, case, host, way), runs in self.runs.items():
            key = (variant, case, host, way)
            breakeven = self.breakeven(*key)
            rows.append(
                {
                    "variant": variant,
                    self.case_name: case,
                    "host": host,
                    "way": way,
                    "unit": "us",
                    "median": self.median(*key),
                    "ratio": self.ratio(*key),
                    "making": self.making(*key),
                    "breakeven": "never" if breakeven == NEVER else breakeven,
                    "runs": runs,
                    "making_runs": self.makings.get(key, []),
                }
            )
        return rows

    def failures_as_json(self) -> list[dict]:
        return [
            {"variant": variant, self.case_name: case, "host": host, "way": way, "reason": reason}
            for (variant, case, host, way), reason in self.failures.items()
        ]


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
