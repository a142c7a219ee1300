# SPDX-License-Identifier: BSD-3-Clause
"""All records of a run: what the ranks of a window did to it, by the same clock.

Only times by the clock of one machine are compared: those of its own records, and those of the
records that have been aligned with them.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from oriel.wait_states.aligned_records import machines_of
from oriel.wait_states.rank_history import COMPLETE, FENCE_ENTRIES, MAKING, History, RankStep, Wait
from oriel.wait_states.record import (
    EXCLUSIVE,
    OPERATION_KINDS,
    Entry,
    Record,
    WindowKey,
    WindowOfRank,
)

LOCKS = ("lock", "lock_all")
# Fences that stay in memory: each rank asks for those that its window's other ranks ask for, too.
_MOST_FENCES = 256
_MOST_MAKINGS = 256
# Events of a rank between those of a window's making and the end of another rank's.
_MOST_AFTER_MAKING = 1_000
# Events of a rank between the grant of a lock to another rank and its own record that it has
# released the lock.
_MOST_AFTER_GRANT = 64
# Events of a rank since the grant of a lock that it never gave back.
_MOST_SINCE_GRANT = 10_000
# Holds of a lock that end within one wait: more of them at a time are shared ones.
_MOST_HOLDS = 64
# Events of a rank between its start of a persistent collective and the end of that at another rank.
_MOST_SINCE_USE = 10_000


class Hold(NamedTuple):
    """A rank that held a lock. `closed`: its call of unlock, None: before the time that is looked
    at; `told`: the lock was given back."""

    history: History
    closed: Entry | None
    told: Entry

    @property
    def exclusive(self) -> bool:
        return bool(self.told.flags & EXCLUSIVE)

    @property
    def order(self) -> tuple[int, int]:
        return self.told.time, self.history.rank


class Fence(NamedTuple):
    """One call of MPI_Win_fence, as far as the records by one clock tell. `arrivals`: the entry of
    each rank; `ends`: the last operation of a rank at one of its targets."""

    arrivals: dict[int, RankStep]
    ends: list[RankStep]

    def last_transfer(self, until: int) -> RankStep | None:
        """None: the operations had been completed before the fence."""
        ends = (end for end in self.ends if end.time <= until)
        return max(ends, key=lambda end: (end.time, end.history.rank), default=None)


class Run:
    """`unread`: by file name a sentence on each record that could not be read."""

    def __init__(self, records: Sequence[Record], unread: dict[str, str]) -> None:
        self.machines = machines_of(records)
        self._errors = {machine.boot: machine.error for machine in self.machines}
        align = {machine.boot: machine.align for machine in self.machines}
        self.histories = [History(align[record.boot](record)) for record in records]
        self.unread = unread
        self._peers: dict[tuple[int, str], list[History]] = defaultdict(list)
        self._begun: dict[str, int] = {}
        self._users: dict[tuple[str, WindowKey], list[History]] = defaultdict(list)
        for history in self.histories:
            record = history.record
            clock = record.timed_by
            self._peers[history.rank, clock].append(history)
            self._begun[clock] = min(record.begun, self._begun.get(clock, record.begun))
            for key in {window.key for window in record.windows.values()}:
                self._users[clock, key].append(history)
        self._fences: dict[tuple[str, WindowKey, int], Fence] = {}
        self._makings: dict[tuple[str, WindowKey], list[RankStep]] = {}
        self._servers: dict[tuple[str, WindowKey], list[History]] = {}

    @cached_property
    def with_operations(self) -> bool:
        """Whether operations were recorded, for a timeline."""
        return any(each.counts[kind] for each in self.histories for kind in OPERATION_KINDS)

    def error(self, one: History, other: History) -> int:
        """Nanoseconds by which their times may be wrong to one another: none on one machine."""
        boots = {one.record.boot, other.record.boot}
        return math.ceil(sum(self._errors[boot] for boot in boots)) if len(boots) > 1 else 0

    def begun(self, history: History) -> int:
        """When the first record by the clock of this history begins."""
        return self._begun[history.record.timed_by]

    def peers(self, history: History, rank: int) -> list[History]:
        """The records of a rank of MPI_COMM_WORLD, by the clock of this history."""
        return self._peers.get((rank, history.record.timed_by), [])

    def peer(self, history: History, window: WindowOfRank | None, rank: int) -> History | None:
        """The record of a rank of the window, by the clock of this history."""
        world_rank = window.world_rank(rank) if window else None
        if window is None or world_rank is None:
            return None
        peers = self.peers(history, world_rank)
        return next((peer for peer in peers if peer.numbers_of(window.key)), None)

    def users(self, history: History, window: WindowOfRank) -> list[History]:
        """The records of the window's ranks, by the clock of this history."""
        return self._users[history.record.timed_by, window.key]

    def in_order(self, kinds: tuple[str, ...]) -> Iterator[tuple[History, Entry]]:
        """Entries of these kinds by time since the first record of each machine."""

        def timed(history: History) -> Iterator[tuple[int, Entry, History]]:
            zero = self.begun(history)
            for entry in history.record.entries(kinds):
                yield entry.time - zero, entry, history

        for _, entry, history in heapq.merge(*map(timed, self.histories), key=lambda one: one[0]):
            yield history, entry

    def fence(self, history: History, window: WindowOfRank, number: int, ended: int) -> Fence:
        """`ended`: when the fence was over for this history's rank; all ranks had entered it by
        then."""
        key = (history.record.timed_by, window.key, number)
        if key not in self._fences:
            if len(self._fences) == _MOST_FENCES:
                del self._fences[next(iter(self._fences))]
            self._fences[key] = fence = Fence({}, [])
            for each in self.users(history, window):
                until = ended + self.error(history, each)
                _add_to_fence(fence, each, each.numbers_of(window.key), number, until)
        return self._fences[key]

    def first_served(
        self, history: History, window: WindowOfRank, begun: int, ended: int, origin: int
    ) -> Iterator[RankStep]:
        """When each other rank of the window, by the clock of this history, first served the origin
        within these times. -1: any."""
        key = (history.record.timed_by, window.key)
        if key not in self._servers:
            self._servers[key] = [
                each for each in self.users(history, window) if each.counts["served"]
            ]
        for each in self._servers[key]:
            if each is history:
                continue
            numbers = each.numbers_of(window.key)
            until = ended + self.error(history, each)
            for step in each.steps.since(begun):
                if step.time > until:
                    break
                if step.kind == "served" and step.window in numbers and origin in (-1, step.rank):
                    yield RankStep(each, step)
                    break

    def use_begins(self, history: History, window: WindowOfRank, over: Entry) -> Iterator[RankStep]:
        """Where each rank whose times can be compared began the use of a persistent collective that
        was over for this one."""
        for each in self.users(history, window):
            numbers = each.numbers_of(window.key)
            until = over.time + self.error(history, each)
            for step in islice(each.steps.until(until), _MOST_SINCE_USE):
                same = step.window in numbers and step.number == over.number
                if same and step.kind == "use_begun" and step.id <= over.id:
                    if step.id == over.id:
                        yield RankStep(each, step)
                    break

    def making_arrivals(
        self, history: History, window: WindowOfRank, wait: Wait
    ) -> Iterator[RankStep]:
        """Where each other rank whose times can be compared came to make the window, for which this
        one waited."""
        key = (history.record.timed_by, window.key)
        if key not in self._makings:
            if len(self._makings) == _MOST_MAKINGS:
                del self._makings[next(iter(self._makings))]
            self._makings[key] = self._arrivals(history, window, wait)
        return (each for each in self._makings[key] if each.history is not history)

    def _arrivals(self, history: History, window: WindowOfRank, wait: Wait) -> list[RankStep]:
        arrivals = []
        for each in self.users(history, window):
            numbers = each.numbers_of(window.key)
            until = wait.ended + self.error(history, each)
            first = None
            for step in islice(each.steps.until(until), _MOST_AFTER_MAKING):
                if step.window in numbers and step.kind == "wait_begun":
                    site = each.record.sites.get(step.id)
                    if site and site.call in MAKING:
                        first = step
            if first:
                arrivals.append(RankStep(each, first))
        return arrivals

    def holder(
        self, history: History, window: WindowOfRank, target: int, time: int
    ) -> History | None:
        """A rank that held the target's lock at `time`, if it was granted to it within the last
        _MOST_SINCE_GRANT events."""
        for each in self.users(history, window):
            if each.rank != history.rank:
                numbers = each.numbers_of(window.key)
                for step in islice(each.steps.until(time), _MOST_SINCE_GRANT):
                    if step.detail in LOCKS and step.window in numbers and step.rank == target:
                        if step.kind == "granted":
                            return each
                        if step.kind == "told":
                            break
        return None

    def holds(
        self, history: History, window: WindowOfRank, target: int, begun: int, granted: int
    ) -> list[Hold]:
        """The last holds of the target's lock, before it was granted to this history's rank, that
        other ranks gave back after `begun`."""
        found: list[Hold] = []
        for each in self.users(history, window):
            if each.rank != history.rank:
                numbers = each.numbers_of(window.key)
                found += islice(_holds_by(each, numbers, target, begun, granted), _MOST_HOLDS)
        return heapq.nlargest(_MOST_HOLDS, found, key=attrgetter("order"))


def _add_to_fence(
    fence: Fence, history: History, numbers: list[int], number: int, ended: int
) -> None:
    for step in history.steps.until(ended):
        if step.detail == "fence" and step.window in numbers and step.kind in FENCE_ENTRIES:
            if step.number == number:
                fence.arrivals[history.rank] = RankStep(history, step)
            if step.number <= number:
                break
    if history.rank not in fence.arrivals:
        return
    for step in history.steps.since(fence.arrivals[history.rank].time):
        if step.detail == "fence" and step.window in numbers and step.number == number:
            if step.kind == "told":
                fence.ends.append(RankStep(history, step))
            elif step.kind in COMPLETE:
                return


def _holds_by(
    history: History, numbers: list[int], target: int, begun: int, granted: int
) -> Iterator[Hold]:
    """From the last to the first. Between nodes the unlock travels with the lock request, so the
    grant is recorded after the epoch's end; the time for which the lock was held is then
    unknown."""
    given_back: dict[int, Entry] = {}
    closed: dict[int, Entry] = {}
    later: set[int] = set()
    for step in islice(history.steps.since(granted), _MOST_AFTER_GRANT):
        if step.detail not in LOCKS or step.window not in numbers:
            continue
        if step.kind == "closed":
            closed[step.number] = step
        elif step.rank == target and step.kind == "granted":
            later.add(step.number)
            given_back.pop(step.number, None)
        elif step.rank == target and step.kind == "told" and step.number not in later:
            given_back[step.number] = step
    for step in history.backwards(begun, granted):
        if step.detail not in LOCKS or step.window not in numbers:
            continue
        if step.rank == target and step.kind == "granted":
            later.add(step.number)
        elif step.rank == target and step.kind == "told" and step.number not in later:
            given_back[step.number] = step
        elif step.kind == "closed" and step.number in given_back:
            yield Hold(history, step, given_back.pop(step.number))
    for number, told in given_back.items():  # perhaps unlock was called before
        yield Hold(history, closed.get(number), told)
