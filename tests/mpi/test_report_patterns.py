# SPDX-License-Identifier: BSD-3-Clause
"""The programs of `oriel demo` with ranks that are late by a known time: the report names each
wait, the late rank and how long it was late, and no other wait of half that time in most turns
but for the making of windows (B1, E7, E13). Early Fence, which no work makes late, is in
test_report.py."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from statistics import median
from typing import NamedTuple

import pytest
from conftest import LOST_PROCESSOR, until_times_agree
from oriel.cli.report import report_on
from oriel.demo.patterns import PATTERNS
from oriel.hosts.host import own_program
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.record import read_records
from oriel.wait_states.recorded_run import Run

WORK = 0.03  # seconds
TURNS, WARM_UP = 3, 3
OF = {pattern.name: pattern for pattern in PATTERNS}
POST, COMPLETE, UNLOCK = "Late Post", "Late Complete", "Late Unlock"


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


def run(job, host, folder, name: str, nodes=None) -> dict[str, list[float]]:
    """Seconds that the late rank worked in each turn, by the kind of turn."""
    pattern = OF[name]
    # A short put to another node is kept until the target posts: its origin does not wait.
    words = [own_program(host, "patterns"), "--pattern", name, "--size", 1 << 20]
    words += ["--mode", "nonblocking" if pattern.flag else "blocking"]
    words += ["--iterations", TURNS, "--work", int(WORK * 1e6)]
    settings = {"ORIEL_REPORT": str(folder)}
    status, output = job.run_command(host, list(map(str, words)), pattern.ranks, settings, nodes)
    assert status == 0, output
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {
        line["variant"]: [sample * 1e-6 for sample in line["samples"]]
        for line in lines
        if line.get("metric") == "work"
    }


def wrong_times(job, host, folder, name: str, nodes) -> list[tuple]:
    """(which wait, how long it was in each turn, how long the late rank worked then); the latter is
    empty for a wait of a rank that others kept from its processor, both for a remedy that is not
    there."""
    folder.mkdir()
    worked = run(job, host, folder, name, nodes)
    lost = defaultdict(list)
    for state in wait_states(Run(*read_records(folder))):
        if state.lost >= WORK * 1e9 / 2 and "Create" not in state.pattern:
            who = Known(state.history.rank, state.pattern, state.late)
            lost[who, state.window.name].append(state.lost * 1e-9)
    # A rank that loses its processor makes others wait in some turns, a wrong rule in all.
    often = {which for which, waits in lost.items() if len(waits) > (WARM_UP + TURNS) / 2}
    always, without_flag, key = KNOWN[name]
    flag = next((each for _, each in often if each != "no flag"), None)
    kinds = {"no flag": "off", flag: "on"} if OF[name].flag else {"no flag": "pattern"}
    expected = {(always, window): kind for window, kind in kinds.items()}
    if without_flag is not None:
        expected[without_flag, "no flag"] = "off"
    assert expected.keys() <= often
    wrong = [(which, lost[which], []) for which in often - expected.keys()]
    text = report_on(folder, all_waits=True)
    named = set(re.findall(r"had called in time.*?info key (\w+) on", text, re.DOTALL))
    assert key is not None or not named, text
    if key is not None and key not in named:  # an epoch is deferred only if its rank comes in time
        wrong.append((f"the remedy by {key} is missing in:\n{text}", [], []))
    for which, kind in expected.items():
        turns = zip(lost[which][-TURNS:], worked[kind], strict=True)
        more = [abs(seconds - work) - 0.05 * work for seconds, work in turns]
        if median(more) > LOST_PROCESSOR:
            wrong.append((which, lost[which], worked[kind]))
    return wrong


def check(job, host, folder, name: str, nodes=None) -> None:
    until_times_agree(lambda number: wrong_times(job, host, folder / f"{number}", name, nodes))


@pytest.mark.parametrize("name", KNOWN)
def test_who_was_late_and_how_long(job, host, tmp_path, name):
    check(job, host, tmp_path, name)


# The lock of another node is asked for when its epoch is closed: no work delays the unlock.
@pytest.mark.parametrize("name", [name for name in KNOWN if name != "late_unlock"])
def test_who_was_late_between_nodes(job, host, tmp_path, three_nodes, name):
    check(job, host, tmp_path, name, three_nodes.first(2))
