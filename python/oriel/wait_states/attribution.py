# SPDX-License-Identifier: BSD-3-Clause
"""From waits to wait states: one rule for each reason of a wait."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat, zip_longest
from operator import attrgetter
from typing import NamedTuple

from oriel.wait_states.rank_history import COMPLETE, MAKING, History, RankStep, Wait, same_epoch
from oriel.wait_states.record import EXCLUSIVE, Entry, WindowOfRank
from oriel.wait_states.recorded_run import LOCKS, Run
from oriel.wait_states.wait_state import (
    EARLY_FENCE,
    LATE_COLLECTIVE_START,
    LATE_COMPLETE,
    LATE_POST,
    LATE_UNLOCK,
    LOCK_CONTENTION,
    TRANSFER,
    WAIT_AT_COLLECTIVE,
    WAIT_AT_FENCE,
    WAIT_AT_WINDOW_CALL,
    WAIT_AT_WINDOW_CREATE,
    WAIT_AT_WINDOW_FREE,
    WAIT_FOR_NOTIFICATION,
    WAIT_FOR_PROGRESS,
    WAIT_FOR_QUEUE_SPACE,
    WAIT_FOR_REQUEST,
    WaitState,
)


class _Cut(NamedTuple):
    """A part of a wait, from the cut before it until this time. `ended_by`: see WaitState."""

    pattern: str
    late: int | None
    until: int
    ended_by: RankStep | None = None


@dataclass(frozen=True)
class _Case:
    """A wait, and the steps on its window within it, in the order of time."""

    run: Run
    history: History
    wait: Wait
    window: WindowOfRank | None
    steps: Sequence[Entry]

    @property
    def own(self) -> int:
        """This rank in the window, or -1."""
        return self.window.rank if self.window else -1

    def may_be_for(self, rank: int) -> bool:
        """Whether the wait may be for this rank of the window, -1: for some; else a step is that of
        another epoch, or of another thread."""
        return self.wait.rank < 0 or rank in (-1, self.wait.rank)

    def world_rank(self, rank: int) -> int | None:
        """Of a rank of the window, in MPI_COMM_WORLD."""
        return self.window.world_rank(rank) if self.window else None

    def late_beyond_error(self, late: History, since: int, until: int) -> int | None:
        """The rank of `late`, unless the wait until `until` is shorter than the error of the two
        ranks' clocks; then None."""
        return late.rank if until - since > self.run.error(self.history, late) else None

    def cut(self, pattern: str, since: int, step: RankStep) -> _Cut:
        """The part that lasts until this step."""
        late = self.late_beyond_error(step.history, since, step.time)
        return _Cut(pattern, late, step.time, None if late is None else step)


# What a rule finds: the cuts in the order of time, and the name of the rest of the wait.
_Found = tuple[list[_Cut], str]


def wait_states(run: Run) -> Iterator[WaitState]:
    """The wait states of one wait follow one another, in the order of time. Waits of all ranks at
    about the same time do so, too: the blocks that the rules look into are then in memory."""
    every = (zip(history.waits(), repeat(history)) for history in run.histories)
    for wait, history in heapq.merge(*every, key=lambda one: one[0].ended):
        yield from _parts(run, history, wait)


def _parts(run: Run, history: History, wait: Wait) -> Iterator[WaitState]:
    window = wait.window
    numbers = history.numbers_of(window.key) if window else []
    case = _Case(run, history, wait, window, history.between(numbers, wait.begun, wait.ended))
    if wait.reason == "request":
        case, (cuts, rest) = _of_request(case)
    elif wait.reason in _RULES:
        cuts, rest = _RULES[wait.reason](case)
    else:
        epochs = _EPOCHS[wait.reason]
        # A lock may be granted, and the call return, after another epoch has completed.
        ends = (step for step in reversed(case.steps) if step.kind in (*COMPLETE, "granted"))
        its = (step for step in ends if step.detail in epochs and case.may_be_for(step.rank))
        end = next(its, None)
        cuts, rest = _behind_others(case, end, _OF_EPOCH[epochs[0]](case))
    begun = wait.begun
    for pattern, late, until, ended_by in [*cuts, _Cut(rest, None, wait.ended)]:
        until = min(max(until, begun), wait.ended)
        if until > begun:
            window = None if pattern == WAIT_FOR_REQUEST else case.window
            if ended_by and ended_by.time < begun - run.error(history, ended_by.history):
                ended_by = None  # it had already been before this part began
            yield WaitState(pattern, history, late, window, wait, begun, until, ended_by)
        begun = until


def _complete(case: _Case) -> _Found:
    cuts, rest = _until_last(case, LATE_POST, "granted", "access", _POST)
    return (cuts, rest) if rest == LATE_POST else (_with_operations(case, cuts, case.own), rest)


def _exposure(case: _Case) -> _Found:
    return _until_last(case, LATE_COMPLETE, "told", "exposure", _TOLD)


# The epoch and its steps at the late rank that end a Late Post and a Late Complete. Where the epoch
# was deferred, its activation sends the post.
_POST = ("exposure", ("opened", "activated"))
_TOLD = ("access", ("told",))


def _until_last(
    case: _Case, pattern: str, kind: str, epoch: str, theirs: tuple[str, tuple[str, ...]]
) -> _Found:
    """The wait until the last of these events, each of which a step of another rank causes. If the
    record ended before it, there are fewer, and the rest is for ranks that are not known."""
    events = [step for step in case.steps if step.kind == kind and step.detail == epoch]
    if case.wait.unfinished and (case.wait.awaited >= 0 or not events):
        return _unfinished(case, pattern)
    return [
        _Cut(pattern, case.world_rank(step.rank), step.time, _cause(case, step, *theirs))
        for step in events[-1:]
    ], pattern if case.wait.unfinished else TRANSFER


def _cause(case: _Case, event: Entry, epoch: str, kinds: tuple[str, ...]) -> RankStep | None:
    """The late rank's step that led to this event: of an end that of the same access; of a grant
    its last before that in the wait, or by clocks that may be wrong its next."""
    late = case.run.peer(case.history, case.window, event.rank)
    if late is None or case.window is None:
        return None
    numbers = late.numbers_of(case.window.key)
    error = case.run.error(case.history, late)
    found = None
    for step in late.backwards(case.wait.begun - error, event.time + error):
        if step.detail != epoch or step.kind not in kinds or step.window not in numbers:
            continue
        if step.kind == "told" and step.id != event.id:
            continue
        if step.rank in (-1, case.own):  # -1: of several peers
            found = RankStep(late, step)
            if step.time <= event.time:  # else perhaps the next epoch's
                break
    return found


def _unfinished(case: _Case, pattern: str) -> _Found:
    """The record ended before the awaited ranks came."""
    return [_Cut(pattern, case.world_rank(case.wait.awaited), case.wait.ended)], pattern


def _until_arrival(case: _Case, pattern: str, arrivals: Iterable[RankStep]) -> list[_Cut]:
    """Until the last of these steps, if it is another rank's within the wait."""
    last = max(arrivals, key=lambda step: step.time, default=None)
    if last is None or last.history.rank == case.history.rank or last.time <= case.wait.begun:
        return []
    return [case.cut(pattern, case.wait.begun, last)]


def _fence(case: _Case) -> _Found:
    """All have entered once each rank of the window has, by a clock that can be compared. Then the
    last of their operations ends the fence."""
    numbers = [
        step.number
        for step in case.steps
        if step.detail == "fence" and step.kind in ("renewed", "completed")
    ]
    if case.window is None:
        return [], WAIT_AT_FENCE
    if not numbers:
        return _unfinished(case, WAIT_AT_FENCE)
    fence = case.run.fence(case.history, case.window, numbers[-1], case.wait.ended)
    arrivals = fence.arrivals.values()
    cuts = _until_arrival(case, WAIT_AT_FENCE, arrivals)
    if not case.window.ranks or len(arrivals) < len(case.window.ranks):
        return cuts, WAIT_AT_FENCE
    entered = max(step.time for step in arrivals)
    transfer = fence.last_transfer(case.wait.ended)
    if transfer is None or transfer.time <= entered:
        return _with_operations(case, cuts, origin=-1), TRANSFER
    if transfer.history.rank == case.history.rank:
        return _with_operations(case, cuts, origin=-1), EARLY_FENCE
    early = case.cut(EARLY_FENCE, entered, transfer)._replace(until=case.wait.ended)
    return [*cuts, early], EARLY_FENCE


def _window(case: _Case) -> _Found:
    call = case.wait.site.call if case.wait.site else ""
    if call in MAKING:
        if case.window is None:  # no event of it has followed
            return [], WAIT_AT_WINDOW_CREATE
        arrivals = case.run.making_arrivals(case.history, case.window, case.wait)
        return _until_arrival(case, WAIT_AT_WINDOW_CREATE, arrivals), WAIT_AT_WINDOW_CREATE
    # MPI_Win_free ends the last fence epoch.
    pattern = WAIT_AT_WINDOW_FREE if call == "MPI_Win_free" else WAIT_AT_WINDOW_CALL
    cuts, _ = _fence(case)
    return [cut._replace(pattern=pattern) for cut in cuts], pattern


def _lock(case: _Case) -> _Found:
    """Until the lock is granted. Time before the holder calls unlock is Late Unlock, time behind
    that before a remote target takes the request is Wait for Progress; the rest is Lock
    Contention."""
    cuts: list[_Cut] = []
    for grant in case.steps:
        if grant.kind != "granted" or grant.detail not in LOCKS:
            continue
        if not case.may_be_for(grant.rank):
            continue
        cuts += _holders(case, grant, _end_of_cuts(case, cuts))
        cuts += _progress(case, _end_of_cuts(case, cuts), grant.time, grant.rank, case.own)
        cuts.append(_Cut(LOCK_CONTENTION, None, grant.time))
    # A flush may be for operations behind the lock.
    if case.wait.unfinished and not cuts and case.window and case.wait.reason != "flush":
        holder = case.run.holder(case.history, case.window, case.wait.rank, case.wait.ended)
        if holder is not None:
            late = case.late_beyond_error(holder, case.wait.begun, case.wait.ended)
            return [_Cut(LATE_UNLOCK, late, case.wait.ended)], LATE_UNLOCK
    return _with_operations(case, cuts, case.own), TRANSFER


def _holders(case: _Case, grant: Entry, begun: int) -> list[_Cut]:
    """The ranks that held the lock from `begun` until it was granted, one after the other. Shared
    locks do not exclude one another: an exclusive one waits for the last of them."""
    if case.window is None:
        return []
    cuts = []
    holds = case.run.holds(case.history, case.window, grant.rank, begun, grant.time)
    holds.sort(key=attrgetter("order"))
    for hold, following in zip_longest(holds, holds[1:]):
        shadowed = following and not hold.exclusive and not following.exclusive
        if (hold.exclusive or grant.flags & EXCLUSIVE) and not shadowed:
            for pattern, step in ((LATE_UNLOCK, hold.closed), (LOCK_CONTENTION, hold.told)):
                if step and step.time > begun:
                    cut = case.cut(pattern, begun, RankStep(hold.history, step))
                    cuts.append(cut._replace(until=min(step.time, grant.time)))
    return sorted(cuts, key=lambda cut: cut.until)


def _end_of_cuts(case: _Case, cuts: list[_Cut]) -> int:
    """The end of the last part."""
    return cuts[-1].until if cuts else case.wait.begun


def _with_operations(case: _Case, cuts: list[_Cut], origin: int) -> list[_Cut]:
    """Behind `cuts` the rank waits for its operations: until it found space for their
    notifications, and until their targets carried them out. `origin`: see _progress()."""
    freed = [
        step
        for step in case.steps
        if step.kind == "queue_freed"
        and step.time > _end_of_cuts(case, cuts)
        and case.wait.rank in (-1, step.rank)
    ]
    cuts += [
        _Cut(WAIT_FOR_QUEUE_SPACE, case.world_rank(step.rank), step.time) for step in freed[-1:]
    ]
    begun = _end_of_cuts(case, cuts)
    return cuts + _progress(case, begun, case.wait.ended, case.wait.rank, origin)


def _progress(case: _Case, begun: int, ended: int, rank: int, origin: int) -> list[_Cut]:
    """Until the last remote target first served the origin within these times, as far as it did not
    wait itself: a rank that waits serves others. `rank`: of that target in the window, or -1;
    `origin`: this rank or, where ranks wait for one another by way of others, -1: any."""
    cuts: list[_Cut] = []
    if case.window is None:
        return cuts
    for served in case.run.first_served(case.history, case.window, begun, ended, origin):
        target = served.history
        if rank >= 0 and case.world_rank(rank) != target.rank:
            continue
        waiting = target.wait_at(served.time) if served.step.detail == "wait" else None
        cut = case.cut(WAIT_FOR_PROGRESS, begun, RankStep(target, waiting) if waiting else served)
        if cut.late is not None:
            cuts.append(cut)
    return sorted(cuts, key=lambda cut: cut.until)[-1:]


def _notification(case: _Case) -> _Found:
    late = case.world_rank(case.wait.rank)
    return [_Cut(WAIT_FOR_NOTIFICATION, late, case.wait.ended)], WAIT_FOR_NOTIFICATION


def _collective(case: _Case) -> _Found:
    return [], WAIT_AT_COLLECTIVE


_OF_EPOCH = {
    "fence": _fence,
    "access": _complete,
    "exposure": _exposure,
    "lock": _lock,
    "lock_all": _lock,
}
# By the reason of a wait, the kinds of epoch that end it.
_EPOCHS = {
    "lock": LOCKS,
    "unlock": LOCKS,
    "flush": LOCKS,
    "fence": ("fence",),
    "complete": ("access",),
    "exposure": ("exposure",),
}
# By the reason of a wait that no epoch ends.
_RULES = {"notification": _notification, "collective": _collective, "window": _window}


def _use(case: _Case) -> _Found:
    """Until the last rank had started the persistent collective. Its end is the last step."""
    end = next(step for step in reversed(case.steps) if step.kind == "use_over")
    begins = case.run.use_begins(case.history, case.window, end) if case.window else ()
    return _until_arrival(case, LATE_COLLECTIVE_START, begins), TRANSFER


# Rules for operations with a request and for uses of collectives.
_OF_END = {"answered": _lock, "use_over": _use}


def _of_request(case: _Case) -> tuple[_Case, _Found]:
    """The wait as one for the epoch, operation or use of a persistent collective that ends last in
    it. The rest of the wait is for other requests, such as the host's messages."""
    end = case.history.ending(case.wait)
    window = case.history.record.windows.get(end.window) if end else None
    if end is None or window is None or {end.kind, end.detail}.isdisjoint(_OF_END | _OF_EPOCH):
        return case, ([], WAIT_FOR_REQUEST)
    # By a grant alone an operation is not complete.
    over = case.wait.ended if end.kind == "granted" else end.time
    wait = replace(case.wait, ended=over, rank=end.rank)
    steps = case.history.between([end.window], wait.begun, over)
    case = replace(case, window=window, wait=wait, steps=steps)
    cuts, rest = _of_end(case, end)
    return case, ([*cuts, _Cut(rest, None, over)], WAIT_FOR_REQUEST)


def _of_end(case: _Case, end: Entry) -> _Found:
    """The wait as one for the epoch, operation or use with this end alone."""
    if end.kind in _OF_END:
        steps = [step for step in case.steps if step.rank == end.rank]
        return _OF_END[end.kind](replace(case, steps=steps))
    steps = [step for step in case.steps if same_epoch(step, end) or step.kind == "queue_freed"]
    return _behind_others(case, end, _OF_EPOCH[end.detail](replace(case, steps=steps)))


def _behind_others(case: _Case, end: Entry | None, found: _Found) -> _Found:
    """`found` of the epoch with this end. While that was deferred, the wait was for the rank's own
    epoch before it, which may have been deferred, too. Fence epochs are left out: a fence epoch has
    another number when it is opened than when it ends, and its late rank is found from its end."""
    steps_of = defaultdict(list)
    for step in case.steps:
        steps_of[step.detail, step.number].append(step)
    # Each end lets the epoch that was deferred behind it be activated.
    links: list[tuple[Entry, Entry]] = []
    while end is not None and end.detail != "fence":
        its = steps_of[end.detail, end.number]
        activated = next((step for step in its if step.kind == "activated"), None)
        ends = case.history.over_before(activated, case.wait.begun) if activated else iter(())
        end = next(ends, None)
        if activated and end and end.detail in _OF_EPOCH:
            links.append((end, activated))
    cuts: list[_Cut] = []
    for end, activated in reversed(links):
        begun = cuts[-1].until if cuts else case.wait.begun
        wait = replace(
            case.wait, begun=begun, ended=activated.time, rank=end.rank, unfinished=False
        )
        of_end = replace(case, wait=wait, steps=steps_of[end.detail, end.number])
        its, rest = _OF_EPOCH[end.detail](of_end)
        cuts += [*its, _Cut(rest, None, activated.time)]
    own, rest = found
    return [*cuts, *own], rest
