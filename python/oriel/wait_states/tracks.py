# SPDX-License-Identifier: BSD-3-Clause
"""Processes, tracks and slices in Chrome's JSON format of trace events."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from oriel.wait_states.lanes import Lanes
from oriel.wait_states.rank_history import History
from oriel.wait_states.record import WindowOfRank
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.run_report import window_name

# Steps take no time. So long they are drawn, because an arrow begins in a slice.
STEP_NANOSECONDS = 1_000


@dataclass
class Slice:
    """`ended`: None of what takes no time, until it is laid out."""

    history: History
    window: WindowOfRank | None
    what: str
    name: str
    begun: int
    ended: int | None
    args: dict
    track: int = 0


class Tracks:
    """`names`: events with the names of the tracks that have been used so far."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._pids = _numbers(run)
        # Perfetto takes a thread with the number of its process for the main one.
        self._threads = itertools.count(max(self._pids.values(), default=0) + 1)
        self._tracks: dict[tuple, int] = {}
        self.names: list[dict] = []

    def pid(self, history: History) -> int:
        return self._pids[history.record.process]

    def metadata(self, what: str, history: History, **args) -> dict:
        return {"ph": "M", "name": what, "pid": self.pid(history), "args": args}

    def at(self, history: History, time: int) -> dict:
        """Perfetto reads microseconds, with three digits."""
        return {"pid": self.pid(history), "ts": (time - self._run.begun(history)) / 1_000}

    def track(self, history: History, window: WindowOfRank | None, what: str, lane: int = 0) -> int:
        key = (self.pid(history), window and window.key, what, lane)
        if key not in self._tracks:
            self._tracks[key] = next(self._threads)
            name = (f"{window_name(window)}: {what}" if window else what) + (
                f" {lane + 1}" * bool(lane)
            )
            for kind, args in (
                ("thread_name", {"name": name}),
                ("thread_sort_index", {"sort_index": self._tracks[key]}),
            ):
                metadata = self.metadata(kind, history, **args)
                self.names.append({**metadata, "tid": self._tracks[key]})
        return self._tracks[key]

    def event_of(self, one: Slice, category: str) -> dict:
        """The event of a slice on its track."""
        return {
            "ph": "X",
            "name": one.name,
            "cat": category,
            **self.at(one.history, one.begun),
            "tid": one.track,
            "dur": (one.ended - one.begun) / 1_000,
            "args": one.args,
        }

    def drawn(self, slices: list[Slice], category: str) -> Iterator[dict]:
        self._lay_out(slices)
        for one in slices:
            yield self.event_of(one, category)

    def _lay_out(self, slices: list[Slice]) -> None:
        """On tracks, of which each has several where slices overlap."""
        by_track: dict[tuple, list[Slice]] = defaultdict(list)
        for one in sorted(slices, key=lambda one: one.begun):
            by_track[self.pid(one.history), one.window and one.window.key, one.what].append(one)
        for its in by_track.values():
            lanes = Lanes()
            for one, after in itertools.zip_longest(its, its[1:]):
                if one.ended is None:
                    free = after.begun - one.begun if after else STEP_NANOSECONDS
                    one.ended = one.begun + max(1, min(free, STEP_NANOSECONDS))
                one.track = self.track(
                    one.history, one.window, one.what, lanes.take(one.begun, one.ended)
                )


def _numbers(run: Run) -> dict[tuple[bool, int, str], int]:
    """Of each process its rank, or its PID, or the next number that is free."""
    numbers: dict[tuple[bool, int, str], int] = {}
    for process in sorted({history.record.process for history in run.histories}):
        taken = numbers.values()
        numbers[process] = next(each for each in itertools.count(process[1]) if each not in taken)
    return numbers
