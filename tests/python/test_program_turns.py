# SPDX-License-Identifier: BSD-3-Clause
"""Logic of tests/programs: answers, turns and tables. No program is run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
for _folder in ("mpi", "conformance", "programs"):
    sys.path.append(str(REPOSITORY / "tests" / _folder))

from case import Case  # noqa: E402
from oriel.bench.ways import HOST, ORIEL  # noqa: E402
from oriel.hosts.host import Host  # noqa: E402
from program import Number, Program, Task, Words  # noqa: E402
from program_tables import full_table, ratio_text, short_table, summary, wide_table  # noqa: E402
from turns import Turns  # noqa: E402

MPICH = Host("mpich", Path("/mpich"), Path("/mpich/bin/mpiexec"), Path("/lib.so"), "5.0.2")


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        ("Total energy = -76.5000\n", ""),
        ("Total energy: -76.1 \n Total energy =   -7.65D+01\n", ""),
        ("Total energy = -76.6\n", "'Total energy' is -76.6, not -76.5"),
        ("Total energy = none\n", "it did not print 'Total energy'"),
    ],
)
def test_a_number_is_the_last_behind_its_words(output, fault):
    assert Number("Total energy", -76.5, 1e-6).fault(output) == fault


def test_words_are_somewhere_in_the_output():
    assert Words("all right").fault("a: all right\n") == ""
    assert "it did not print 'all right' but: a: 3 faults" in Words("all right").fault(
        "a: 3 faults"
    )


def turns(
    answers: dict[str, list[tuple[str, str]]],
    monkeypatch,
    ranks: int = 2,
    slowness: float = 1,
    fails_on: tuple[str, ...] = (),
) -> Turns:
    """Of a program that prints so, and fails so, in its turns one way and the other; a turn alone
    takes two seconds, or `slowness` times as long, one with Oriel takes one."""
    task = Task("water", None, (Words("right"),), ranks, nodes=ranks // 2, fails_on=fails_on)
    found = Turns(
        task, Case("Chemistry 1", "water", MPICH, ("/bin/chem", "a b.nw"), ranks, SETTINGS)
    )
    clock = [0.0]
    left = {way: iter(each) for way, each in answers.items()}

    def run(self, with_oriel, nodes=None, more=None):
        clock[0] += 1 if with_oriel else 2 * slowness
        return next(left[ORIEL if with_oriel else HOST])

    monkeypatch.setattr(Case, "run", run)
    monkeypatch.setattr("turns.time.monotonic", lambda: clock[0])
    for number in range(3):
        found.play(number, None)
    return found


SETTINGS = {"LD_LIBRARY_PATH": "/mpich", "ORIEL_INFO": "1"}
RIGHT = ("right", "")


def test_a_way_that_failed_has_no_further_turn(monkeypatch):
    found = turns({HOST: [RIGHT, ("wrong", "")], ORIEL: [RIGHT] * 3}, monkeypatch)
    assert found.seconds == {HOST: [2.0], ORIEL: [1.0] * 3}
    assert not found.right(HOST)
    assert found.right(ORIEL)
    assert found.ratio is None


def test_ratios_are_of_pairs_of_turns(monkeypatch):
    found = turns({HOST: [RIGHT] * 3, ORIEL: [RIGHT] * 3}, monkeypatch)
    assert found.ratios() == [0.5] * 3
    assert ratio_text([0.5, 0.9, 0.7]) == "0.70 (0.50 to 0.90)"
    assert ratio_text([]) == ""


def test_a_way_that_has_taken_a_minute_has_no_further_turn(monkeypatch):
    found = turns({HOST: [RIGHT], ORIEL: [RIGHT] * 3}, monkeypatch, slowness=30)
    assert found.seconds == {HOST: [60.0], ORIEL: [1.0] * 3}
    assert found.ratios() == [1 / 60]


def test_a_fault_of_the_programs_own_is_known(monkeypatch):
    wrong = {HOST: [("", "")], ORIEL: [("", "")]}
    assert not turns(wrong, monkeypatch).known
    assert not turns(wrong, monkeypatch, fails_on=("MPICH 4",)).known
    assert turns(wrong, monkeypatch, fails_on=("MPICH 4", "MPICH 5")).known


def test_tables_show_what_was_rescued_and_what_was_lost(monkeypatch):
    program = Program("chemistry", "Chemistry 1", "Debian, `chem`", (), ("a note",))
    ended = ("", "it ended with status 1: negative proj")
    late = ("", "it did not end within 60 s")
    runs = [
        turns({HOST: [RIGHT] * 3, ORIEL: [RIGHT] * 3}, monkeypatch),
        turns({HOST: [ended], ORIEL: [RIGHT] * 3}, monkeypatch),
        turns({HOST: [RIGHT] * 3, ORIEL: [late]}, monkeypatch, ranks=4),
    ]
    played = [(program, runs)]
    assert short_table(played)[-1] == "| Chemistry 1 | 2 of 3 | 2 of 3 | 0.50 to 0.50 |"
    text = "\n".join(full_table(played))
    assert "| water | 2 | MPICH 5.0.2 | 2.0 s | 1.0 s | 0.50 (0.50 to 0.50) |" in text
    assert "| water | 2 | MPICH 5.0.2 | aborts | 1.0 s |  |" in text
    assert "| water | 4 on 2 nodes | MPICH 5.0.2 | 2.0 s | **no end** |  |" in text
    assert "$ ORIEL_INFO=1 oriel run -n 2 chem 'a b.nw'" in text
    assert "$ ORIEL_INFO=1 oriel run -n 4 --hosts 2 chem 'a b.nw'" in text
    assert "MPICH 5.0.2, alone: it ended with status 1: negative proj" in text
    assert "- a note" in text
    wide = wide_table([each.as_json() for each in runs[1:]])
    assert wide[0] == "| program | task | ranks | MPICH 5.0.2 |"
    assert wide[2] == "| Chemistry 1 | water | 2 | aborts, 1.0 |"
    assert wide[3] == "|  | water | 4 on 2 nodes | 2.0, no end |"
    said = "3 runs: 2 right alone, 2 with Oriel; 1 rescued, 1 lost; 1 faster by more than 10%"
    assert summary(played).startswith(said)
