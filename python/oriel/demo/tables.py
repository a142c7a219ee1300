# SPDX-License-Identifier: BSD-3-Clause
"""The two tables of the main job, as rows of text: the screen and the page show the same ones."""

from __future__ import annotations

from dataclasses import dataclass

from oriel.demo.patterns import FLAGS, INEFFICIENCIES, WAYS, Observation, Pattern
from oriel.demo.results import Results
from oriel.report.units import size_text


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def microseconds(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}"


def left(
    results: Results, pattern: Pattern, size: int, way: str = "nonblocking", variant: str = ""
) -> float | None:
    """Which part of what could be lost is still lost: against the same without the delay."""
    variant = variant or ("on" if pattern.flag else "pattern")
    waited = results.of(pattern, pattern.decisive, way, size, variant)
    reference = results.of(pattern, pattern.decisive, way, size, "reference")
    at_most = results.at_most(pattern, size)
    if not (waited and reference and at_most):
        return None
    return (waited.median - reference.median) / at_most


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _median(
    results: Results, pattern: Pattern, observation: Observation, way: str, size: int, variant: str
) -> float | None:
    found = results.of(pattern, observation, way, size, variant)
    return found.median if found else None


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else before - after


def table_sizes(results: Results, pattern: Pattern) -> list[int]:
    """The message sizes that the table shows: the largest, or all where there are only a few."""
    sizes = results.sizes(pattern)
    return sizes if pattern.shape == "sizes" else sizes[-1:]


def inefficiencies(results: Results) -> Table:
    rows = []
    for pattern in INEFFICIENCIES:
        for size in table_sizes(results, pattern):
            values = [
                _median(results, pattern, pattern.decisive, way, size, "pattern") for way in WAYS
            ]
            rows.append(
                (
                    pattern.title,
                    f"{pattern.decisive.sentence}, {size_text(size)}",
                    *(microseconds(value) for value in values),
                    microseconds(results.at_most(pattern, size)),
                    microseconds(_difference(values[1], values[2])),
                    _percent(left(results, pattern, size)),
                )
            )
    return Table(
        f"The five inefficiency patterns on {results.version} (median, µs)",
        (
            "Pattern",
            "What is measured",
            "Host's own",
            "Oriel blocking",
            "Oriel nonblocking",
            "Could cost",
            "Saved",
            "Left",
        ),
        rows,
    )


def flags(results: Results) -> Table:
    rows = []
    for pattern in FLAGS:
        for size in table_sizes(results, pattern):
            for observation in pattern.observations[1:]:
                off, on, reference = (
                    _median(results, pattern, observation, "nonblocking", size, variant)
                    for variant in ("off", "on", "reference")
                )
                rows.append(
                    (
                        pattern.flag,
                        f"{observation.sentence} (Figure {pattern.figure})",
                        microseconds(off),
                        microseconds(on),
                        microseconds(reference),
                        microseconds(results.at_most(pattern, size)),
                        microseconds(_difference(off, on)),
                    )
                )
    return Table(
        f"The four reorder flags, nonblocking epochs on {results.version} (median, µs)",
        (
            "Flag",
            "What is measured",
            "Off",
            "On",
            "Off, nobody late",
            "Could save at most",
            "Saved by the flag",
        ),
        rows,
    )


def notes(results: Results) -> list[str]:
    """What a reader must know to judge the figures, as sentences."""
    sentences = []
    crowded = []
    for pattern in (*INEFFICIENCIES, *FLAGS):
        head = results.heads.get(pattern.name)
        if head and head["busy_ranks"] > head["cores"]:
            crowded.append(f"{pattern.title} ({head['busy_ranks']} busy ranks)")
            cores = head["cores"]
    if crowded:
        sentences.append(
            f"More ranks are busy at the same time than the machine's {cores} cores in: "
            f"{', '.join(crowded)}. The times of these patterns include waits for a core."
        )
    for pattern in INEFFICIENCIES:
        for size in table_sizes(results, pattern):
            part = left(results, pattern, size)
            if part is not None and part >= 0.1:
                sentences.append(
                    f"{pattern.title}, {size_text(size)}: {100 * part:.0f} % of what could be lost "
                    "is left with nonblocking calls; below 10 % was expected."
                )
    return sentences + results.failures
