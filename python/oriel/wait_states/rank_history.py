# SPDX-License-Identifier: BSD-3-Clause
"""The history of one record: the waits of a rank, and the steps of its epochs that others may have
waited for."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import dropwhile, islice, takewhile
from typing import NamedTuple

from oriel.wait_states.entry_blocks import EntryBlocks
from oriel.wait_states.record import (
    KINDS,
    OPERATION_KINDS,
    Entry,
    Record,
    Site,
    WindowKey,
    WindowOfRank,
)

COMPLETE = ("completed", "renewed")
# With these a rank enters a fence.
FENCE_ENTRIES = ("renewing", "closed")
# The calls that make windows.
MAKING = ("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic")
# With these a call on the window begins.
_CALLS = ("opened", "closed", "renewing", "wait_begun", "use_begun")
# Steps of a wait that are looked at, the last ones: other threads may go on while one waits long.
_MOST_STEPS = 10_000
# Steps since a wait began that are looked at: a rank that waits may serve others meanwhile.
_MOST_IN_WAIT = 10_000


def same_epoch(one: Entry, other: Entry) -> bool:
    """Whether two steps of one rank belong to one epoch. Not for fences: the call that closes one
    fence epoch and opens the next gives both its number."""
    return (one.window, one.detail, one.number) == (other.window, other.detail, other.number)


@dataclass(eq=False)
class Wait:
    """Times in nanoseconds. `window`: None where the call waited on none in particular. `rank`: the
    peer that the call named, in the window, or -1. `worked`: how long the rank then did not wait,
    in any of its threads, until it called on the window again. `unfinished`: it had not ended
    when the record did; then `awaited` is the only rank of the window whose call it was for, or
    -1."""

    window: WindowOfRank | None
    site: Site | None
    reason: str
    rank: int
    begun: int
    ended: int = 0
    worked: int = 0
    unfinished: bool = False
    awaited: int = -1


class _Idle:
    """How long a rank has waited in at least one of its threads."""

    def __init__(self) -> None:
        self._threads = 0
        self._since = 0
        self._before = 0  # in waits that are over

    def begin(self, time: int) -> None:
        if self._threads == 0:
            self._since = time
        self._threads += 1

    def end(self, time: int) -> None:
        self._threads -= 1
        if self._threads == 0:
            self._before += time - self._since

    def until(self, time: int) -> int:
        return self._before + (time - self._since if self._threads else 0)


@dataclass(eq=False)
class History:
    """`steps`: also the begins and ends of waits."""

    record: Record
    steps: EntryBlocks = field(init=False)
    _numbers: dict[WindowKey, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.steps = EntryBlocks(self.record)
        for number, window in self.record.windows.items():
            self._numbers[window.key].append(number)

    @property
    def rank(self) -> int:
        """In MPI_COMM_WORLD; -1 without it."""
        return self.record.rank

    @property
    def ended(self) -> int:
        """When the process ended its MPI, or its last event was."""
        return self.record.ended or self.steps.last_time

    @cached_property
    def counts(self) -> dict[str, int]:
        """Entries of each kind. What a record does not have need not be looked for."""
        return self.record.counts(KINDS)

    @cached_property
    def operations(self) -> EntryBlocks:
        """The operations that it has called, and their notifications."""
        return EntryBlocks(self.record, OPERATION_KINDS)

    def numbers_of(self, key: WindowKey) -> list[int]:
        """This rank's numbers of the window."""
        return self._numbers.get(key, [])

    def between(self, numbers: list[int], begun: int, ended: int) -> deque[Entry]:
        """The last steps on the window of these numbers within these times, both included."""
        steps = takewhile(lambda step: step.time <= ended, self.steps.since(begun))
        return deque((step for step in steps if step.window in numbers), _MOST_STEPS)

    def backwards(self, begun: int, ended: int) -> Iterator[Entry]:
        """The steps within these times, both included, from the last to the first."""
        return takewhile(lambda step: step.time >= begun, self.steps.until(ended))

    def wait_at(self, time: int) -> Entry | None:
        """The begin of the wait in which the rank was then, in one of its threads."""
        over = set()
        for step in islice(self.steps.until(time), _MOST_IN_WAIT):
            if step.kind == "wait_ended":
                over.add(step.number)
            elif step.kind == "wait_begun" and step.number not in over:
                return step
        return None

    def ending(self, wait: Wait) -> Entry | None:
        """The last step in the wait that completes an epoch, an operation with a request of its
        own, or the use of a persistent collective, of any window; else the last by which another
        rank grants an epoch."""
        grant = None
        for step in self.backwards(wait.begun, wait.ended):
            if step.kind in COMPLETE or step.kind in ("answered", "use_over"):
                return step
            if step.kind == "granted" and grant is None:
                grant = step
        return grant

    def over_before(self, activated: Entry, begun: int) -> Iterator[Entry]:
        """The steps since `begun` by which other epochs of the window ended, the last first: that
        one let this epoch be activated. A lock is free for the next epoch once it has been given
        back."""
        before = dropwhile(lambda step: step != activated, self.backwards(begun, activated.time))
        for step in before:
            over = step.kind in COMPLETE or (step.kind, step.detail) == ("told", "lock")
            if over and step.window == activated.window:
                yield step

    def waits(self) -> Iterator[Wait]:
        """In the order in which the rank came back to their windows. Of a rank that was killed, or
        never came back, the last ones lasted to its end."""
        idle = _Idle()
        under_way: dict[int, Wait] = {}
        # By window: the rank has not come back to it. With the time that it has waited before.
        away: dict[WindowKey, list[tuple[Wait, int]]] = defaultdict(list)
        windows = self.record.windows

        def come_back(key: WindowKey, time: int) -> Iterator[Wait]:
            for wait, before in away.pop(key, ()):
                wait.worked = time - wait.ended - (idle.until(time) - before)
                yield wait

        for step in self.steps:
            window = windows.get(step.window)
            if window and step.kind in _CALLS and window.key in away:
                yield from come_back(window.key, step.time)
            if step.kind == "wait_begun":
                idle.begin(step.time)
                site = self.record.sites.get(step.id)
                under_way[step.number] = Wait(window, site, step.detail, step.rank, step.time)
            elif step.kind == "wait_lasts" and step.number in under_way:
                under_way[step.number].awaited = step.rank
            elif step.kind == "wait_ended" and step.number in under_way:
                idle.end(step.time)
                wait = under_way.pop(step.number)
                wait.ended = step.time
                if window is None:
                    yield wait
                else:
                    away[window.key].append((wait, idle.until(step.time)))
        for wait in under_way.values():
            wait.ended, wait.unfinished = self.ended, True
            yield wait
        for key in list(away):
            yield from come_back(key, self.ended)


class RankStep(NamedTuple):
    """A step, and the history that it is of."""

    history: History
    step: Entry

    @property
    def time(self) -> int:
        return self.step.time
