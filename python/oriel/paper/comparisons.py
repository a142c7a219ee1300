# SPDX-License-Identifier: BSD-3-Clause
"""The papers' numbers beside ours: the rows of the page and of docs/evidence.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oriel.hosts.mpi_kinds import kind_of
from oriel.paper.campaign import Outcome
from oriel.paper.entries import Entry, Paper, Value
from oriel.paper.readings import Reading

NO_NUMBER = "no number"


def number_text(number: float) -> str:
    if math.isinf(number):
        return "never"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    if abs(number) >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if abs(number) >= 0.1 or number == 0 else f"{number:.2g}"


@dataclass(frozen=True)
class Compared:
    """A number of a paper beside ours on each host."""

    value: Value
    readings: Mapping[str, Reading | None]  # by host

    @property
    def label(self) -> str:
        unit = self.value.unit
        named = f"{self.value.label} ({unit})" if unit else self.value.label
        return f"{named}; {self.at}" if self.at else named

    @property
    def at(self) -> str:
        return next((found.at for found in self.readings.values() if found and found.at), "")

    @property
    def paper(self) -> str:
        if self.value.text or self.value.number is None:
            return self.value.text or NO_NUMBER
        return number_text(self.value.number)

    @property
    def ours(self) -> dict[str, str]:
        return {
            host: number_text(found.number) if found else "–"
            for host, found in self.readings.items()
        }

    @property
    def measured(self) -> bool:
        return any(self.readings.values())

    @property
    def as_good(self) -> list[bool]:
        """Of each host that has a number, whether ours is as good as the paper's."""
        found = [self.value.as_good(each.number) for each in self.readings.values() if each]
        return [good for good in found if good is not None]

    @property
    def verdict(self) -> str:
        good = self.as_good
        if not good:
            return NO_NUMBER if self.measured else "not measured"
        if all(good) or not any(good):
            return "yes" if all(good) else "no"
        return f"{sum(good)} of {len(good)}"


@dataclass(frozen=True)
class Shown:
    """An entry of the catalogue with what was measured for it."""

    entry: Entry
    outcome: Outcome | None
    rows: Sequence[Compared]
    pictures: Sequence[str]  # relative to the folder of all runs

    @property
    def each_host(self) -> bool:
        """Whether each host has a picture of its own, instead of a panel."""
        return any("/" in pattern for pattern in self.entry.pictures)


def shown(
    entry: Entry, outcomes: Mapping[str, Outcome], hosts: Sequence[str], folder: Path
) -> Shown:
    if not entry.run:
        return Shown(entry, None, (), ())
    outcome = outcomes[entry.run]
    results = outcome.results
    rows = [
        Compared(value, {host: value.read(results, host) if results else None for host in hosts})
        for value in entry.values
    ]
    pictures = [
        str(path.relative_to(folder))
        for pattern in entry.pictures
        for path in sorted((folder / entry.run).glob(pattern))
    ]
    return Shown(entry, outcome, rows, pictures)


def all_shown(
    papers: Sequence[Paper], outcomes: Mapping[str, Outcome], hosts: Sequence[str], folder: Path
) -> list[tuple[Paper, list[Shown]]]:
    return [
        (paper, [shown(entry, outcomes, hosts, folder) for entry in paper.entries])
        for paper in papers
    ]


def hosts_of(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    """Of all that were measured: name and title without the version."""
    names = dict.fromkeys(host for each in outcomes.values() for host in each.versions)
    return {name: kind_of(name).title for name in names}
