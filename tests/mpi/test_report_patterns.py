# SPDX-License-Identifier: BSD-3-Clause
"""The patterns of `oriel demo` with ranks that are late by an hour: the report names each wait, the
late rank and how long it was late, and no other wait that counts next to an hour (B1, E7, E13).
Early Fence, which no work makes late, is in test_report.py."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

import pytest
from conftest import folder_of
from oriel.cli.report import report_on
from oriel.demo.patterns import PATTERNS
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.record import WindowOfRank, read_records
from oriel.wait_states.recorded_run import Run
from paced_run import HOUR, TOLERANCE, Moment, Step, paced_run

TURNS = 2
OF = {pattern.name: pattern for pattern in PATTERNS}
POST, COMPLETE, UNLOCK = "Late Post", "Late Complete", "Late Unlock"
# The kinds of epochs that the ranks close which wait.
CLOSED = {POST: "access", COMPLETE: "exposure", UNLOCK: "lock", "Wait at Fence": "fence"}


class Known(NamedTuple):
    rank: int
    pattern: str
    late: int


# The wait that the flag does not change; that of another rank, for an epoch which was deferred
# behind the late one; and the key that the report has for it.
KNOWN = {
    "late_post": (Known(2, POST, 0), None, None),
    "late_complete": (Known(1, COMPLETE, 0), None, None),
    "wait_at_fence": (Known(1, "Wait at Fence", 0), None, None),
    "late_unlock": (Known(1, UNLOCK, 0), None, None),
    "aaar_gats": (Known(0, POST, 1), Known(2, COMPLETE, 0), "A_A_A_R"),
    "aaar_lock": (Known(1, UNLOCK, 0), None, None),
    "aaer": (Known(2, COMPLETE, 0), Known(1, COMPLETE, 2), "A_A_E_R"),
    "eaer": (Known(2, COMPLETE, 0), Known(1, POST, 2), "E_A_E_R"),
    "eaar": (Known(2, POST, 0), Known(1, POST, 2), "E_A_A_R"),
}


def has_flag(window: WindowOfRank | None) -> bool:
    return window is not None and window.name != "no flag"


class Turn(NamedTuple):
    """On the window with the pattern's flag or on the other one, of which it is the turn with this
    number. `waits`: until the late rank comes; `spared`: the wait that the flag spares a rank."""

    flag: bool
    number: int
    waits: list[Known]
    spared: Known | None

    def has_begun(self, moment: Moment) -> bool:
        """The ranks wait that are to wait, and what does not wait for the late rank is over."""
        if not all(self._waits_at_end(moment, known.rank) for known in self.waits):
            return False
        if self.spared is None:
            return True
        over = self._epochs(moment, self.spared.rank)["completed"] >= self.number
        # The rank for which it would have waited knows of that, too: one epoch of its own is left.
        its = self._epochs(moment, self.spared.late)
        known = its["opened"] == its["completed"] + 1
        return over and known and not moment.is_waiting(self.spared.rank)

    def _waits_at_end(self, moment: Moment, rank: int) -> bool:
        """The rank has closed all of its epochs, and waits."""
        epochs = self._epochs(moment, rank)
        return epochs["opened"] == epochs["closed"] > 0 and moment.is_waiting(rank)

    def _epochs(self, moment: Moment, rank: int) -> Counter:
        windows = moment.records[rank].windows
        return Counter(
            entry.kind
            for entry in moment.entries(rank, ("opened", "closed", "completed"))
            if entry.detail in CLOSED.values() and has_flag(windows[entry.window]) == self.flag
        )


def turns_of(name: str) -> list[Turn]:
    always, without_flag, _ = KNOWN[name]
    found = []
    for number in range(1, TURNS + 1):
        waits = [always] if without_flag is None else [always, without_flag]
        found.append(Turn(False, number, waits, None))
        if OF[name].flag:
            found.append(Turn(True, number, [always], without_flag))
    return found


def check(job, host, folder, name: str, nodes=None) -> None:
    pattern, turns = OF[name], turns_of(name)
    steps = [Step(HOUR, over=[turn.waits[0].late], ready=turn.has_begun) for turn in turns]
    words = [folder_of(host) / "late_patterns", name, str(TURNS)]
    paced_run(job, host, words, pattern.ranks, folder, steps, nodes=nodes)
    lost = defaultdict(list)
    for state in wait_states(Run(*read_records(folder))):
        if state.lost >= HOUR * 1e9 * TOLERANCE:
            who = Known(state.history.rank, state.pattern, state.late)
            lost[who, has_flag(state.window)].append(state.lost / 1e9)
    expected = {(wait, turn.flag) for turn in turns for wait in turn.waits}
    assert lost.keys() == expected
    for waits in lost.values():
        assert waits == pytest.approx(TURNS * [HOUR], rel=TOLERANCE)
    text = report_on(folder, all_waits=True)
    named = set(re.findall(r"had called in time.*?info key (\w+) on", text, re.DOTALL))
    _, _, key = KNOWN[name]
    assert named == ({key} if key else set()), text


@pytest.mark.parametrize("name", KNOWN)
def test_who_was_late_and_how_long(job, host, tmp_path, name):
    check(job, host, tmp_path, name)


# The lock of another node is asked for when its epoch is closed: no work delays the unlock. The
# host takes no part in what is recorded of other nodes.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("name", [name for name in KNOWN if name != "late_unlock"])
def test_who_was_late_between_nodes(job, host, tmp_path, three_nodes, name):
    check(job, host, tmp_path, name, three_nodes.first(2))
