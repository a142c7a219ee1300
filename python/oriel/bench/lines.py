# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a table: a number of ranks and a case each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from oriel.bench.variant_times import Case, VariantTimes

Times = TypeVar("Times", bound=VariantTimes)


@dataclass(frozen=True)
class Line(Generic[Times]):
    """What was measured, and where its times are."""

    name: str  # in a sentence
    labels: tuple[str, ...]
    times: Times
    case: Case
    section: bool = False  # a line ends below it


def by_ranks(times: Mapping[int, Times], case_text: Callable[[Case], str]) -> list[Line[Times]]:
    """A section for each number of ranks, a line for each of its cases."""
    return [
        Line(
            f"{ranks} ranks, {case_text(case)}",
            (str(ranks), case_text(case)),
            its_own,
            case,
            section=case == its_own.cases()[-1],
        )
        for ranks, its_own in times.items()
        for case in its_own.cases()
    ]


def by_case(times: Mapping[int, Times], case_text: Callable[[Case], str]) -> list[Line[Times]]:
    """A section for each case, a line for each number of ranks."""
    lines = []
    for case in cases(times):
        ranks = [ranks for ranks, its_own in times.items() if case in its_own.cases()]
        lines += [
            Line(
                f"{case_text(case)}, {each} ranks",
                (case_text(case), str(each)),
                times[each],
                case,
                section=each == ranks[-1],
            )
            for each in ranks
        ]
    return lines


def cases(times: Mapping[int, VariantTimes]) -> list[Case]:
    return list(dict.fromkeys(case for its_own in times.values() for case in its_own.cases()))


def hosts(times: Mapping[int, VariantTimes]) -> list[str]:
    return list(dict.fromkeys(host for its_own in times.values() for host in its_own.hosts()))
