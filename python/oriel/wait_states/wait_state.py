# SPDX-License-Identifier: BSD-3-Clause
"""Wait states: what the waits of a run were, by their names in the field, and who was late.

Late Post, Late Complete, Wait at Fence, Early Fence, Late Unlock: papers/0 (Nonblocking epochs),
section III. Lock Contention, Wait for Progress, Wait at Window Create, Wait at Window Free:
Scalasca.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from oriel.wait_states.rank_history import History, RankStep, Wait
from oriel.wait_states.record import WindowOfRank

# The names of the wait states.
LATE_POST = "Late Post"
LATE_COMPLETE = "Late Complete"
WAIT_AT_FENCE = "Wait at Fence"
EARLY_FENCE = "Early Fence"
LATE_UNLOCK = "Late Unlock"
LOCK_CONTENTION = "Lock Contention"
WAIT_FOR_PROGRESS = "Wait for Progress"
WAIT_FOR_QUEUE_SPACE = "Wait for Queue Space"
WAIT_FOR_NOTIFICATION = "Wait for Notification"
LATE_COLLECTIVE_START = "Late Collective Start"
TRANSFER = "Transfer"
WAIT_FOR_REQUEST = "Wait for Request"
WAIT_AT_COLLECTIVE = "Wait at Collective"
WAIT_AT_WINDOW_CREATE = "Wait at Window Create"
WAIT_AT_WINDOW_FREE = "Wait at Window Free"
WAIT_AT_WINDOW_CALL = "Wait at Window Call"


class Pattern(NamedTuple):
    """`colour`: on the page; `their_remedy`: a step of the late rank that would have spared the
    wait; `at_any_time`: other ranks need that step for a moment only, so it can spare the whole
    wait; `own_sentence`: advice to the rank that waits, where no nonblocking form of its call
    helps."""

    colour: str
    their_remedy: str | None = None
    at_any_time: bool = False
    own_sentence: str | None = None


# Late ranks have warm colours, transfers and others cold ones.
PATTERNS = {
    LATE_POST: Pattern("#d1495b", "post earlier; MPI_Win_post does not wait"),
    LATE_COMPLETE: Pattern(
        "#e58a2e", "ORIEL_Win_icomplete as soon as its last operation has been called"
    ),
    WAIT_AT_FENCE: Pattern(
        "#b8336a", "ORIEL_Win_ifence as soon as its last operation has been called"
    ),
    EARLY_FENCE: Pattern("#8d6fb5"),
    LATE_UNLOCK: Pattern(
        "#8c5a2b", "ORIEL_Win_iunlock as soon as its last operation has been called"
    ),
    LOCK_CONTENTION: Pattern("#c9a227"),
    WAIT_FOR_PROGRESS: Pattern(
        "#e0607e",
        "let its progress agent serve others while it computes (ORIEL_AGENT_INTERVAL=200, and no "
        "info key no_locks for the window), or call MPI_Test now and then in its work",
        at_any_time=True,
    ),
    WAIT_FOR_QUEUE_SPACE: Pattern(
        "#b5762a",
        "call MPI_Test for a notification now and then in its work: each call takes those that "
        "have come from the queue",
        at_any_time=True,
    ),
    WAIT_FOR_NOTIFICATION: Pattern("#2f8f6b", "notify earlier"),
    LATE_COLLECTIVE_START: Pattern(
        "#a8437f",
        "MPI_Start earlier; it does not wait",
        own_sentence="Do between MPI_Start and {call} what comes next; up to {percent:.0f} % of "
        "the wait would be covered, as far as what the rank does next does not use the "
        "collective's buffers.",
    ),
    TRANSFER: Pattern("#3b82b8"),
    WAIT_AT_COLLECTIVE: Pattern("#27647b"),
    WAIT_AT_WINDOW_CREATE: Pattern("#4f5d75"),
    WAIT_AT_WINDOW_FREE: Pattern("#9aa5b1"),
    WAIT_AT_WINDOW_CALL: Pattern("#7a8691"),
    WAIT_FOR_REQUEST: Pattern("#5b6abf"),
}


@dataclass(frozen=True)
class WaitState:
    """A part of a wait. `history`: of the rank that waited; `late`: the rank of MPI_COMM_WORLD that
    it was for, None: not known, or nobody's fault; `window`: that of the wait or, of a wait for a
    request, that of the epoch which ended it; `ended_by`: the
    step of the late rank until which it lasted, if that is recorded. Times in nanoseconds."""

    pattern: str
    history: History
    late: int | None
    window: WindowOfRank | None
    wait: Wait
    begun: int
    ended: int
    ended_by: RankStep | None = None

    @property
    def lost(self) -> int:
        return self.ended - self.begun
