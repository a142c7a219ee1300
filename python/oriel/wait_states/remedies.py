# SPDX-License-Identifier: BSD-3-Clause
"""Which call would have spared a wait, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from oriel.wait_states.entry_blocks import EntryBlocks
from oriel.wait_states.rank_history import History, Wait, same_epoch
from oriel.wait_states.record import Entry
from oriel.wait_states.recorded_run import LOCKS, Run
from oriel.wait_states.wait_state import PATTERNS, WaitState

# For the rank that waits, the nonblocking form of its call; of an operation, the form that does
# not wait for a lock.
_OWN = {
    "MPI_Win_complete": "ORIEL_Win_icomplete",
    "MPI_Win_wait": "ORIEL_Win_iwait",
    "MPI_Win_fence": "ORIEL_Win_ifence",
    "MPI_Win_lock": "ORIEL_Win_ilock",
    "MPI_Win_unlock": "ORIEL_Win_iunlock",
    "MPI_Win_unlock_all": "ORIEL_Win_iunlock_all",
    "MPI_Win_flush": "ORIEL_Win_iflush",
    "MPI_Win_flush_all": "ORIEL_Win_iflush_all",
    "MPI_Win_flush_local": "ORIEL_Win_iflush_local",
    "MPI_Win_flush_local_all": "ORIEL_Win_iflush_local_all",
    "MPI_Get": "MPI_Rget",
    "MPI_Get_accumulate": "MPI_Rget_accumulate",
}
# With these the late rank calls on the window, or comes back from a call. It may learn of all other
# steps within the very call that is late.
_CALLS = (
    "opened",
    "closed",
    "renewing",
    "wait_begun",
    "wait_ended",
    "use_begun",
    "operation_issued",
    "notification_matched",
)
# Of the late rank: its epoch, the one before it, and the info key by which it overtakes that one
# (E7), spelled so that each MPI takes it. Nothing overtakes a fence.
_REORDER_KEYS = {
    (later, earlier): f"{later[0].upper()}_A_{'E' if earlier == 'exposure' else 'A'}_R"
    for later in ("access", "exposure")
    for earlier in ("access", "exposure", "lock")
}


class Saving(NamedTuple):
    """Of a wait state, in nanoseconds. `hidden`: what the rank's next work would cover, if its call
    did not wait; `avoidable`: what the late rank can spare it, because its last event on the window
    is so long ago, None: not known. Operations are events in a run with a timeline only; without
    them it is at most so much. `deferred`: how long the late rank's epoch was deferred behind an
    earlier epoch of that rank, and by which info key it overtakes that one."""

    hidden: int
    avoidable: int | None = None
    deferred: tuple[int, str] | None = None


def own_remedy(call: str) -> str | None:
    """The call that would have returned at once."""
    return _OWN.get(call)


def savings(run: Run, states: Iterable[WaitState]) -> Iterator[tuple[WaitState, Saving]]:
    """The saving of each wait state. Those of one wait follow one another, in the order of time."""
    for wait, parts in groupby(states, key=lambda state: state.wait):
        # What the rank waits meanwhile covers nothing: it would wait the longer.
        work = wait.worked
        for state in parts:
            own = own_remedy(_call(wait)) or PATTERNS[state.pattern].own_sentence
            hidden = min(state.lost, work) if own else 0
            work -= hidden
            yield state, _saving(run, state, hidden)


def _call(wait: Wait) -> str:
    return wait.site.call if wait.site else ""


def _saving(run: Run, state: WaitState, hidden: int) -> Saving:
    pattern = PATTERNS[state.pattern]
    if pattern.at_any_time:
        return Saving(hidden, state.lost)
    if state.ended_by is None or not pattern.their_remedy:
        return Saving(hidden)
    late, step = state.ended_by
    call = _call_of(late, step)
    earliest = max(call.time - state.lost, late.record.begun)
    last = _last_before(late.steps, step.window, earliest, call.time)
    if run.with_operations:
        last = max(last, _last_before(late.operations, step.window, earliest, call.time))
    deferred = _deferred(late, step, max(call.time, state.begun))
    return Saving(hidden, call.time - last, deferred)


def _last_before(entries: EntryBlocks, window: int, earliest: int, time: int) -> int:
    """When the last call on the window was before this time, or the grant of a lock, as far as it
    was not before `earliest`."""
    for entry in entries.until(time):
        if entry.time <= earliest:
            break
        call = entry.kind in _CALLS or (entry.kind == "granted" and entry.detail in LOCKS)
        if call and entry.window == window and entry.time < time:
            return entry.time
    return earliest


def _deferred(late: History, step: Entry, since: int) -> tuple[int, str] | None:
    """With one key the epoch overtakes those before it that are of one kind, as far as no other one
    ended before them, for which it would have waited all the same."""
    for activated in late.backwards(since, step.time):
        if activated.kind == "activated" and same_epoch(activated, step):
            ends = late.over_before(activated, since)
            keys = ((end.time, _REORDER_KEYS.get((step.detail, end.detail))) for end in ends)
            _, key = next(keys, (0, None))
            waits_from = next((time for time, other in keys if other != key), since)
            return (activated.time - waits_from, key) if key else None
    return None


def _call_of(late: History, step: Entry) -> Entry:
    """The step that the program's call was, of one that may come later."""
    call = {"told": "closed", "activated": "opened"}.get(step.kind)
    for each in late.steps.until(step.time) if call else ():
        if each.kind in (call, "opened") and same_epoch(each, step):
            return each if each.kind == call else step
    return step
