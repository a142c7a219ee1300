# SPDX-License-Identifier: BSD-3-Clause
"""What the catalogue has of each paper: its figures, tables and headline numbers, where ours are
measured, and how they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oriel.paper.readings import Reader

LOWER = "lower"
HIGHER = "higher"


@dataclass(frozen=True)
class Value:
    """A number of a paper, and ours."""

    label: str  # what both are
    number: float | None  # the paper's; None: the paper has a sentence only
    read: Reader
    better: str = LOWER
    unit: str = ""  # of both
    text: str = ""  # the paper's, where the number alone would mislead
    margin: float = 0  # so much worse counts as equal, because the paper's number is an "about"

    def as_good(self, ours: float) -> bool | None:
        """None: there is nothing to compare with."""
        if self.number is None:
            return None
        if self.better == LOWER:
            return ours <= self.number + self.margin
        return ours >= self.number - self.margin


@dataclass(frozen=True)
class Entry:
    where: str  # "Figure 12", "Table 1", "Section V-A", "Abstract"
    title: str
    run: str = ""  # the run that measures it; empty: nothing is measured
    pictures: Sequence[str] = ()  # patterns of files in the run's folder
    values: Sequence[Value] = ()
    note: str = ""  # where ours is not better, why, and the limit; of a drawing, what ours is


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    authors: str
    entries: Sequence[Entry]
