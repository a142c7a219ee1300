# SPDX-License-Identifier: BSD-3-Clause
"""The times and tables of `oriel bench threads`: put and flush by the threads of a rank, by what
was asked of the window, on each host alone and with Oriel on it; and the paper's factors."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.table import Table

from oriel.bench.ratio_table import WAY_TITLES, ratio_text
from oriel.bench.ways import WAYS
from oriel.report.units import size_text, time_text

PUTS = "puts"  # every thread puts and flushes
ROW = "row"  # one thread puts in a row, and flushes at the end
IDLE = "idle"  # one thread puts and flushes, the others sleep
BUSY = "busy"  # one thread puts and flushes, the others put without a flush

# What share of a time without thread scope a short put and flush by each of 32 threads takes with
# it, in "Quo vadis MPI RMA?", 7.1. It was made for Open MPI.
PAPER_THREADS = 32
PAPER = {"the time of MPICH and MVAPICH": "tenth", "its own without": "hundredth"}


@dataclass(frozen=True)
class Hints:
    """What is asked of a window: mpi_win_scope, mpi_win_order."""

    scope: str
    order: bool

    @property
    def title(self) -> str:
        return f"{self.scope} scope" + (", ordered" if self.order else "")

    @property
    def asks_nothing(self) -> bool:
        return self.scope == "process" and not self.order


PLAIN = Hints("process", order=False)
ALL_HINTS = (
    PLAIN,
    Hints("thread", order=False),
    Hints("process", order=True),
    Hints("thread", order=True),
)


@dataclass(frozen=True)
class Case:
    measure: str
    threads: int
    size: int


Key = tuple[Case, Hints, str, str]  # the last two: host, way


@dataclass
class ThreadTimes:
    """Microseconds per put: of every run, one for each sample."""

    runs: dict[Key, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
    # By hints, host and way: whether the MPI says of the window that they are in effect.
    granted: dict[tuple[Hints, str, str], bool] = field(default_factory=dict)

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            hints = Hints(line["scope"], line["order"])
            if line["measure"] == "hints":
                self.granted[hints, host, way] = line["granted"]
                continue
            case = Case(line["measure"], line["threads"], line["bytes"])
            self.runs[case, hints, host, way].append(line["samples"])
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for *_, host, _ in self.runs))

    def _cases(self, measure: str) -> set[Case]:
        return {case for case, *_ in self.runs if case.measure == measure}

    def threads(self, measure: str) -> list[int]:
        """Numbers of threads with which single bytes were put."""
        return sorted({case.threads for case in self._cases(measure) if case.size == 1})

    def sizes(self) -> list[int]:
        return sorted({case.size for case in self._cases(ROW)})

    def median(self, case: Case, hints: Hints, host: str, way: str) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.runs.get((case, hints, host, way))
        return statistics.median(statistics.median(run) for run in runs) if runs else None

    def against_plain(self, case: Case, hints: Hints, host: str, way: str) -> float | None:
        """The time of a window of which nothing was asked against one with these hints, of the same
        host and way: above 1 the hints save time."""
        plain, hinted = (self.median(case, each, host, way) for each in (PLAIN, hints))
        return plain / hinted if plain and hinted else None

    def as_json(self) -> list[dict]:
        return [
            {
                "measure": case.measure,
                "threads": case.threads,
                "bytes": case.size,
                "scope": hints.scope,
                "order": hints.order,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(case, hints, host, way),
                "against_plain": self.against_plain(case, hints, host, way),
                "runs": runs,
            }
            for (case, hints, host, way), runs in self.runs.items()
        ]

    def hints_as_json(self) -> list[dict]:
        return [
            {
                "scope": hints.scope,
                "order": hints.order,
                "host": host,
                "way": way,
                "granted": granted,
            }
            for (hints, host, way), granted in self.granted.items()
        ]


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
