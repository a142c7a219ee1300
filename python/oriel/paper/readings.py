# SPDX-License-Identifier: BSD-3-Clause
"""How a number is read from the results of a benchmark, the JSON file that it writes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from oriel.bench.ways import HOST, ORIEL
from oriel.report.units import size_text


@dataclass(frozen=True)
class Reading:
    number: float
    at: str = ""  # with what it was measured, where the catalogue leaves that to the run


# Takes the results of a run, and the name of a host MPI. None: the run has no such number.
Reader = Callable[[dict, str], Optional[Reading]]

Fields = Mapping[str, Any]  # of a row
Pick = Callable[[Sequence[Any]], Any]  # one of the values that a field has, in rising order
Number = Callable[[dict], Optional[float]]  # of a row

OWN: Fields = {"way": HOST}
OURS: Fields = {"way": ORIEL}


def least(values: Sequence[Any]) -> Any:
    return values[0]


def most(values: Sequence[Any]) -> Any:
    return values[-1]


def field(name: str, scale: float = 1) -> Number:
    """A field that is a number; other values, such as "never", are none."""

    def number(row: dict) -> float | None:
        found = row.get(name)
        return scale * found if isinstance(found, (int, float)) else None

    return number


MEDIAN = field("median")


def latency(row: dict) -> float | None:
    """Of an epoch of `oriel bench notify`: what its calls take if nothing is computed."""
    found = row.get("latencies_us")
    return statistics.median(found) if found else None


_TEXTS: dict[str, Callable[[Any], str]] = {
    "ranks": lambda ranks: f"{ranks} ranks",
    "threads": lambda threads: f"{threads} threads",
    "order": lambda order: f"order {order}",
    "bytes": size_text,
    "size": size_text,
}


def _rows(results: dict, host: str, fields: Fields) -> list[dict]:
    return [
        row
        for row in results["rows"]
        if row["host"] == host and all(row.get(name) == value for name, value in fields.items())
    ]


def _picked(rows: Sequence[dict], picks: Mapping[str, Pick]) -> dict[str, Any] | None:
    """The value of each field, picked one after the other."""
    picked: dict[str, Any] = {}
    for name, pick in picks.items():
        left = [row for row in rows if all(row.get(key) == picked[key] for key in picked)]
        values = sorted({row[name] for row in left if name in row})
        if not values:
            return None
        picked[name] = pick(values)
    return picked


def _only(rows: Sequence[dict], number: Number) -> float | None:
    return number(rows[0]) if len(rows) == 1 else None


def one(fields: Fields, number: Number = MEDIAN, **picks: Pick) -> Reader:
    """A number of the row that has these fields, and those that are picked."""

    def read(results: dict, host: str) -> Reading | None:
        rows = _rows(results, host, fields)
        picked = _picked(rows, picks)
        if picked is None:
            return None
        found = _only(_rows(results, host, {**fields, **picked}), number)
        return None if found is None else Reading(found, _picked_text(picked))

    return read


def ratio(
    top: Fields, bottom: Fields | Sequence[Fields], number: Number = MEDIAN, **picks: Pick
) -> Reader:
    """One row's number to another's. What is picked is picked for the former and holds for both.
    Of several rows below, the least number counts: what a program would use instead."""
    below = [bottom] if isinstance(bottom, Mapping) else list(bottom)

    def read(results: dict, host: str) -> Reading | None:
        picked = _picked(_rows(results, host, top), picks)
        if picked is None:
            return None
        upper = _only(_rows(results, host, {**top, **picked}), number)
        found = [_only(_rows(results, host, {**picked, **fields}), number) for fields in below]
        lower = min((each for each in found if each), default=None)
        if upper is None or not lower:
            return None
        return Reading(upper / lower, _picked_text(picked))

    return read


def less(reader: Reader) -> Reader:
    """What is missing to the whole, in percent: of a ratio 0.7, 30."""

    def read(results: dict, host: str) -> Reading | None:
        found = reader(results, host)
        return found and Reading(100 * (1 - found.number), found.at)

    return read


def difference(top: Fields, bottom: Fields, **picks: Pick) -> Reader:
    def read(results: dict, host: str) -> Reading | None:
        picked = _picked(_rows(results, host, top), picks)
        if picked is None:
            return None
        upper, lower = (
            _only(_rows(results, host, {**fields, **picked}), MEDIAN) for fields in (top, bottom)
        )
        return (
            None if upper is None or lower is None else Reading(upper - lower, _picked_text(picked))
        )

    return read


def breakeven(row: dict) -> float | None:
    found = row.get("breakeven")
    return math.inf if found == "never" else found


def _picked_text(picked: Fields) -> str:
    return ", ".join(_TEXTS[name](value) for name, value in picked.items() if name in _TEXTS)
