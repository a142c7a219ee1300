# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `oriel bench threads`: a row for what was asked of the window, on each host alone
and with Oriel on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.table import Table

from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.threads.threads_times import (
    ALL_HINTS,
    BUSY,
    IDLE,
    PUTS,
    ROW,
    Case,
    Hints,
    ThreadTimes,
)
from oriel.bench.ways import WAYS
from oriel.report.units import size_text, time_text

# A column: its title, and what it shows of hints on a host one way.
Column = tuple[str, Callable[[Hints, str, str], str]]


def _table(
    times: ThreadTimes,
    versions: dict[str, str],
    title: str,
    hints: Sequence[Hints],
    columns: Sequence[Column],
) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("MPI", no_wrap=True)
    table.add_column("")
    table.add_column("Window", no_wrap=True)
    for header, _ in columns:
        table.add_column(header, justify="right", no_wrap=True)
    for host in times.hosts():
        for way in WAYS:
            for each in hints:
                first = each == hints[0]
                labels = (versions[host] if first and way == WAYS[0] else "", WAY_TITLES[way])
                granted = times.granted.get((each, host, way))
                cells = [value(each, host, way) for _, value in columns]
                table.add_row(
                    labels[0],
                    labels[1] if first else "",
                    each.title,
                    *(cells if granted else ["not supported" if granted is False else "–"]),
                )
        table.add_section()
    return table


def _column(times: ThreadTimes, header: str, case: Case) -> Column:
    return header, lambda hints, host, way: time_text(times.median(case, hints, host, way))


def by_threads(times: ThreadTimes, versions: dict[str, str]) -> Table:
    """The paper's Figure 9."""
    columns = [_column(times, str(n), Case(PUTS, n, 1)) for n in times.threads(PUTS)]
    title = "put and flush of 1 B by each of so many threads: µs"
    return _table(times, versions, title, ALL_HINTS[:2], columns)


def by_size(times: ThreadTimes, versions: dict[str, str], threads: int) -> Table:
    """The paper's Figures 8 and 11."""
    columns = [_column(times, size_text(size), Case(PUTS, threads, size)) for size in times.sizes()]
    who = "one thread" if threads == 1 else f"each of {threads} threads"
    title = f"put and flush by {who}: µs"
    return _table(times, versions, title, ALL_HINTS, columns)


def beside(times: ThreadTimes, versions: dict[str, str], long_text: str) -> Table:
    """One thread's put and flush, by what the others do."""
    columns: list[Column] = []
    for threads in times.threads(BUSY):
        idle, busy = (Case(what, threads, 1) for what in (IDLE, BUSY))

        def ratio(hints: Hints, host: str, way: str, idle: Case = idle, busy: Case = busy) -> str:
            times_of = [times.median(case, hints, host, way) for case in (busy, idle)]
            return ratio_text(times_of[0] / times_of[1]) if all(times_of) else "–"

        others = f"{threads - 1} other" + ("s" if threads > 2 else "")
        columns.append(_column(times, f"{others}\nasleep", idle))
        columns.append(_column(times, f"{others}\nputting", busy))
        columns.append(("putting /\nasleep", ratio))
    title = f"put and flush of 1 B by one thread, the others asleep or putting {long_text}: µs"
    return _table(times, versions, title, ALL_HINTS[:2], columns)


def in_a_row(times: ThreadTimes, versions: dict[str, str]) -> Table:
    """The paper's Figure 10, with `by_size` of one thread: what is not flushed after each put."""
    columns = [_column(times, size_text(size), Case(ROW, 1, size)) for size in times.sizes()]
    title = "puts of one thread, one flush for 64 of them: µs per put"
    return _table(times, versions, title, ALL_HINTS, columns)
