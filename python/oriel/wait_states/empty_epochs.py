# SPDX-License-Identifier: BSD-3-Clause
"""Epochs that moved nothing: how many, and what the calls cost that ended them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from oriel.wait_states.rank_history import COMPLETE, FENCE_ENTRIES, History
from oriel.wait_states.record import USED, Entry, Site, WindowKey, WindowOfRank
from oriel.wait_states.recorded_run import Run

# The call that ends an epoch, by kind of epoch; the reasons of the waits in these calls, and of
# those in MPI_Win_free.
_CALLS = {"fence": "MPI_Win_fence", "access": "MPI_Win_complete", "exposure": "MPI_Win_wait"}
_WAITS = ("fence", "complete", "exposure", "window")
_KINDS = (
    "opened", "closed", "completed", "renewing", "renewed", "told", "wait_begun", "wait_ended",
)  # fmt: skip
# Fences of a window, or exposures to an origin, for which the events of other ranks have not come
# yet. They never come if a record ends early.
_MOST_PENDING = 1_000


class EmptyEpochs(NamedTuple):
    """Of one kind, on one window. `call`: which ended them; `ended`: how many it has ended, fence
    epochs once for all ranks; `empty`: how many of these moved nothing; `doubled`: fences with an
    empty epoch on either side; `lost`: nanoseconds that ranks waited in the calls that ended empty
    ones; `site`: where they waited longest."""

    call: str
    window: WindowOfRank
    ended: int
    empty: int
    doubled: int
    lost: int
    site: Site | None


class _End(NamedTuple):
    """Of one rank's epoch. `number`: of a fence that of the call; `wait`: the begin of that in the
    call that ended it, None: it did not wait."""

    history: History
    window: WindowOfRank
    kind: str
    number: int
    used: bool
    wait: Entry | None


class _Row:
    """What is known so far of the epochs of one kind, on one window."""

    def __init__(self, end: _End) -> None:
        self._kind = end.kind
        self._window = end.window
        self._ended = self._empty = self._doubled = 0
        self._last_empty: int | None = None
        self._lost: Counter[Site | None] = Counter()

    def add(self, ends: list[_End]) -> None:
        """Those of one epoch at all of its ranks."""
        self._ended += 1
        if any(end.used for end in ends):
            return
        number = ends[0].number
        self._empty += 1
        self._doubled += self._kind == "fence" and number - 1 == self._last_empty
        self._last_empty = number
        for end in ends:
            if end.wait:
                site = end.history.record.sites.get(end.wait.id)
                self._lost[site] += _length(end.history, end.wait)

    def found(self) -> EmptyEpochs:
        return EmptyEpochs(
            call=_CALLS[self._kind],
            window=self._window,
            ended=self._ended,
            empty=self._empty,
            doubled=self._doubled,
            lost=sum(self._lost.values()),
            site=max(self._lost, key=self._lost.__getitem__, default=None),
        )


def _length(history: History, begun: Entry) -> int:
    """Of a wait."""
    ended = (
        step.time
        for step in history.steps.since(begun.time)
        if step.kind == "wait_ended" and step.number == begun.number
    )
    return next(ended, history.ended) - begun.time


def empty_epochs(run: Run) -> list[EmptyEpochs]:
    """Those with the most time lost first."""
    rows: dict[tuple[WindowKey, str], _Row] = {}
    fences: dict[WindowKey, dict[int, list[_End]]] = defaultdict(dict)
    for end in _ends(run):
        ends = [end]
        if end.kind == "fence":
            pending = fences[end.window.key]
            ends = pending.setdefault(end.number, [])
            ends.append(end)
            if len(ends) != len(end.window.ranks):  # what the others moved is not known
                if len(pending) > _MOST_PENDING:
                    del pending[next(iter(pending))]
                continue
            del pending[end.number]
        key = end.window.key, end.kind
        if key not in rows:
            rows[key] = _Row(end)
        rows[key].add(ends)
    found = (row.found() for row in rows.values())
    return sorted((each for each in found if each.empty), key=lambda each: -each.lost)


@dataclass
class _Rank:
    """What is under way. `closed`: epochs that a call is ending, by window, kind and number, and
    whether they moved anything; `fences`: open epochs by the number of the call, by window; `waits`
    in calls that end epochs, by number."""

    closed: dict[tuple[int, str, int], bool] = field(default_factory=dict)
    fences: dict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    waits: dict[int, Entry] = field(default_factory=dict)

    def wait_on(self, window: int) -> Entry | None:
        """The last to begin."""
        its = (wait for wait in self.waits.values() if wait.window == window)
        return max(its, key=lambda wait: wait.time, default=None)


def _ends(run: Run) -> Iterator[_End]:
    """Of epochs that a call of the program has ended; of exposure epochs those whose use is
    known."""
    ranks = {history: _Rank() for history in run.histories}
    exposures = _Exposures(run)
    for history, step in run.in_order(_KINDS):
        window = history.record.windows.get(step.window)
        if window is None:
            continue
        rank = ranks[history]
        if step.kind == "wait_begun":
            if step.detail in _WAITS:
                rank.waits[step.number] = step
            continue
        if step.kind == "wait_ended":
            rank.waits.pop(step.number, None)
            continue
        epoch = step.window, step.detail, step.number
        if step.kind == "told":
            yield from exposures.told(history, window, step)
        elif step.detail == "fence" and step.kind in FENCE_ENTRIES:
            open_fences = rank.fences[step.window]
            begun = open_fences.popleft() if open_fences else 0
            # Else the call ends none, or does not wait for its end.
            if begun not in (0, step.number):
                rank.closed[epoch] = bool(step.flags & USED)
        elif step.kind == "closed" and step.detail in _CALLS:
            rank.closed[epoch] = bool(step.flags & USED)
        elif step.kind in COMPLETE and epoch in rank.closed:
            used = rank.closed.pop(epoch)
            wait = rank.wait_on(step.window)
            # MPI_Win_free ends one, which is no fence of the program's.
            if wait is None or wait.detail != "window":
                end = _End(history, window, step.detail, step.number, used, wait)
                if step.detail == "exposure":
                    yield from exposures.completed(end, step.window)
                else:
                    yield end
        if step.detail == "fence" and step.kind in ("opened", "renewed"):
            rank.fences[step.window].append(step.number)


@dataclass
class _Exposure:
    """`unknown`: origins of which the step has not come yet; `end`: None: it is not complete."""

    used: bool = False
    unknown: int = 0
    end: _End | None = None

    def known(self) -> Iterator[_End]:
        if self.end and self.unknown == 0:
            yield self.end._replace(used=self.used)


class _Exposures:
    """Whether an origin has moved anything: the target does not know by itself. The nth access of
    an origin is for the nth exposure to it."""

    def __init__(self, run: Run) -> None:
        self._recorded = {history.rank for history in run.histories}
        self._under_way: dict[tuple[History, int, int], _Exposure] = {}
        # By window, origin and target; one of the two is empty.
        self._accesses: dict[tuple, deque[bool]] = defaultdict(deque)
        self._waiting: dict[tuple, deque[_Exposure]] = defaultdict(
            lambda: deque(maxlen=_MOST_PENDING)
        )

    def told(self, history: History, window: WindowOfRank, step: Entry) -> Iterator[_End]:
        """The end of an access at one target, or of one origin's in an exposure."""
        if step.detail == "access" and window.world_rank(step.rank) in self._recorded:
            pair = window.key, window.rank, step.rank
            used = bool(step.flags & USED)
            if not self._waiting[pair]:
                self._accesses[pair].append(used)
                return
            exposure = self._waiting[pair].popleft()
            exposure.used |= used
            exposure.unknown -= 1
            yield from exposure.known()
        elif step.detail == "exposure":
            pair = window.key, step.rank, window.rank
            number = history, step.window, step.number
            exposure = self._under_way.setdefault(number, _Exposure())
            if self._accesses[pair]:
                exposure.used |= self._accesses[pair].popleft()
            else:
                exposure.unknown += 1
                self._waiting[pair].append(exposure)

    def completed(self, end: _End, window: int) -> Iterator[_End]:
        exposure = self._under_way.pop((end.history, window, end.number), None)
        if exposure:
            exposure.end = end
            yield from exposure.known()
