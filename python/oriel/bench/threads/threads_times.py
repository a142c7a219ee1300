# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench threads`: put and flush by the threads of a rank, by what was asked of
the window; and the paper's factors."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

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
