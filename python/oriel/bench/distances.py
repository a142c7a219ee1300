# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are compared only where the ranks' cores were equally far from one another: on a
virtual machine their distance changes between runs, and with it the time of whatever waits for the
other rank."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """What one run of a program says of one row: microseconds per round, one sample per batch, and
    how long a cache line took between the ranks' cores and back, before and after."""

    samples: list[float]
    round_trips_ns: tuple[float, float]


NEAR = "near"
FAR = "far"
# Two clusters of round trips closer than this are one distance; what takes so long as DISTURBED_NS
# is no distance but a core that was taken away.
APART = 2.0
DISTURBED_NS = 2000.0


@dataclass
class Runs:
    """All runs, by row and column: columns are what is compared in a row. A row compares runs of
    one distance, where each of its columns has some."""

    runs: dict[tuple[Hashable, ...], list[Run]] = field(default_factory=lambda: defaultdict(list))
    _distances: dict[str, list[float]] | None = None  # of the runs read so far

    def add(self, run: Run, row: Hashable, *column: Hashable) -> None:
        self._distances = None
        self.runs[(row, *column)].append(run)

    def distances(self) -> dict[str, list[float]]:
        """Round trips in nanoseconds that were seen, near ones and far ones."""
        if self._distances is None:
            self._distances = self._cluster()
        return self._distances

    def _cluster(self) -> dict[str, list[float]]:
        trips = [trip for runs in self.runs.values() for run in runs for trip in run.round_trips_ns]
        sound = sorted(trip for trip in trips if 0 < trip < DISTURBED_NS)
        # Two distances are two clusters: the widest gap is between them.
        gaps = [after / before for before, after in zip(sound, sound[1:])]
        widest = max(gaps, default=1.0)
        split = gaps.index(widest) + 1 if widest > APART else len(sound)
        return {NEAR: sound[:split], FAR: sound[split:]}

    def _at(self, distance: str, row: Hashable, *column: Hashable) -> list[Run]:
        seen = self.distances()[distance]
        if not seen:
            return []
        return [
            run
            for run in self.runs.get((row, *column), [])
            if all(seen[0] <= trip <= seen[-1] for trip in run.round_trips_ns)
        ]

    def support(self, row: Hashable) -> dict[str, int]:
        """For each distance, how many runs at it the column with the fewest has."""
        columns = [column for each, *column in self.runs if each == row]
        return {
            distance: min((len(self._at(distance, row, *column)) for column in columns), default=0)
            for distance in (NEAR, FAR)
        }

    def distance(self, row: Hashable) -> str | None:
        """The distance at which this row is compared; None: at none, all runs are taken."""
        support = self.support(row)
        best = max(support, key=lambda distance: support[distance])
        return best if support[best] else None

    def mixed(self, row: Hashable) -> bool:
        """Whether nothing can be said of the row: its columns ran at distances of their own."""
        return any(self.distances().values()) and self.distance(row) is None

    def compared(self, row: Hashable, *column: Hashable) -> list[Run]:
        distance = self.distance(row)
        if distance is None:
            return self.runs.get((row, *column), [])
        return self._at(distance, row, *column)

    def median(self, row: Hashable, *column: Hashable) -> float | None:
        """Median over the runs of each run's median."""
        runs = self.compared(row, *column)
        return statistics.median(statistics.median(run.samples) for run in runs) if runs else None

    def fastest(self, row: Hashable, *column: Hashable) -> float | None:
        """The shortest batch of all runs: what the code takes when nothing disturbs it."""
        runs = self.compared(row, *column)
        return min(min(run.samples) for run in runs) if runs else None

    def as_times(self, row: Hashable, *column: Hashable) -> dict:
        """All runs, and what is compared of them, for results.json."""
        runs = self.runs[(row, *column)]
        return {
            "unit": "us",
            "median": self.median(row, *column),
            "fastest": self.fastest(row, *column),
            "distance": self.distance(row),
            "runs": [run.samples for run in runs],
            "round_trips_ns": [run.round_trips_ns for run in runs],
        }

    def enough(self, runs: int) -> bool:
        """Whether every row has a distance at which, of so many runs of each column, enough are.
        Where no distance was measured, further runs find none."""
        needed = (runs + 1) // 2
        return not any(self.distances().values()) or all(
            max(self.support(row).values()) >= needed for row in self._rows()
        )

    def _rows(self) -> list[Hashable]:
        return list(dict.fromkeys(row for row, *_ in self.runs))

    def told_distances(self) -> str:
        """What the distance of the cores was, as a sentence."""
        seen = self.distances()
        near = f"{statistics.median(seen[NEAR]):.0f} ns" if seen[NEAR] else "an unknown time"
        if not seen[FAR]:
            return f"A cache line took {near} from one rank's core to the other's and back."
        far = f"{statistics.median(seen[FAR]):.0f} ns"
        places = [self.distance(row) for row in self._rows()]
        mixed = f", {places.count(None)} from runs of both" if None in places else ""
        return (
            f"The distance of the two cores changed: a cache line took {near} there and back, or "
            f"{far}. "
            f"A row compares runs of one distance: {places.count(NEAR)} rows near, "
            f"{places.count(FAR)} far{mixed}."
        )
