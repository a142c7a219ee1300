# SPDX-License-Identifier: BSD-3-Clause
"""Which wait state each part of a wait is, and who was late, from records of runs that have not
been (support/records.py)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from oriel.cli.commands import main as command
from oriel.cli.report import report_on
from oriel.cli.run import _print_report
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.html_page import _waits, write_page
from oriel.wait_states.perfetto import write_timeline
from oriel.wait_states.record import EXCLUSIVE, RecordError, printable, read_records
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.report_text import notes, table
from oriel.wait_states.run_report import Report, make_report
from support.records import BEGUN, RecordWriter, write_late_posts


def ranks_of(count: int, call: str = "MPI_Win_fence") -> list[RecordWriter]:
    """With one window of all."""
    ranks = [RecordWriter(rank, count) for rank in range(count)]
    for each in ranks:
        each.window(1, "window", f"0-{count - 1}", each.rank)
        each.site(1, call, "main")
    return ranks


def run_of(folder: Path, *records: RecordWriter, ended: bool = True) -> Run:
    for each in records:
        each.write(folder, ended)
    return Run(*read_records(folder))


def found(run: Run, rank: int = 0) -> list[tuple]:
    """(wait state, late rank, its end) of a rank."""
    return [
        (state.pattern, state.late, state.ended - BEGUN)
        for state in wait_states(run)
        if state.history.rank == rank
    ]


def report_of(run: Run) -> tuple[Report, str]:
    report = make_report(run)
    return report, table(report, 0.0)


# The reason of a wait decides


def both_epochs(reason: str, call: str) -> list[RecordWriter]:
    """In the wait the target grants the access epoch first; then an origin ends the exposure
    epoch."""
    waiting, other = ranks_of(2, call)
    waiting.epoch({"opened": 0, "activated": 10}, "exposure", 1, rank=1)
    waiting.epoch({"opened": 20, "activated": 30, "closed": 40}, "access", 3, rank=1)
    waiting.add(100, "wait_begun", reason, number=1, id=1)
    waiting.epoch({"granted": 5_000}, "access", 3, rank=1)
    waiting.epoch({"told": 8_000}, "exposure", 1, rank=1)
    return [waiting, other]


def test_a_complete_waits_for_posts_alone(tmp_path):
    waiting, other = both_epochs("complete", "MPI_Win_complete")
    waiting.epoch({"told": 9_000, "completed": 9_100}, "access", 3, rank=1)
    waiting.add(9_200, "wait_ended", "complete", number=1)
    assert found(run_of(tmp_path, waiting, other)) == [
        ("Late Post", 1, 5_000),
        ("Transfer", None, 9_200),
    ]


def test_a_wait_waits_for_origins_alone(tmp_path):
    waiting, other = both_epochs("exposure", "MPI_Win_wait")
    waiting.epoch({"completed": 8_100}, "exposure", 1, rank=1)
    waiting.add(8_200, "wait_ended", "exposure", number=1)
    assert found(run_of(tmp_path, waiting, other)) == [
        ("Late Complete", 1, 8_000),
        ("Transfer", None, 8_200),
    ]


@pytest.mark.parametrize(
    ("last", "expected"), [("access", "Late Post"), ("exposure", "Late Complete")]
)
def test_a_request_is_named_by_the_epoch_that_ends_last(tmp_path, last, expected):
    waiting, other = both_epochs("request", "MPI_Waitall")
    first = "exposure" if last == "access" else "access"
    for kind, time in ((first, 8_100), (last, 8_200)):
        waiting.epoch({"completed": time}, kind, 3 if kind == "access" else 1, rank=1)
    waiting.add(8_300, "wait_ended", "request", number=1, window=0)
    assert found(run_of(tmp_path, waiting, other))[0][:2] == (expected, 1)


def test_a_request_on_another_window_is_named_by_that_window(tmp_path):
    waiting, late = ranks_of(2, "MPI_Wait")
    for each in (waiting, late):
        each.window(2, "other", "1,0", 1 - each.rank, first=5)
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"granted": 6_000, "completed": 6_100}, "access", 1, window=2, rank=0)
    waiting.add(6_150, "granted", "access", number=3, window=2, rank=0)  # the next epoch's
    waiting.add(6_200, "wait_ended", "request", number=1, window=0)
    late.epoch({"opened": 5_900}, "exposure", 1, window=2, rank=1)
    run = run_of(tmp_path, waiting, late)
    parts = [("Late Post", 1, 6_000), ("Transfer", None, 6_100), ("Wait for Request", None, 6_200)]
    assert found(run) == parts
    _, step = next(wait_states(run)).ended_by
    assert step.time == BEGUN + 5_900


def test_a_request_for_an_operation_waits_for_the_lock(tmp_path):
    """MPI_Rget in an epoch that goes on."""
    waiting, holder = ranks_of(2, "MPI_Wait")
    hold(holder, 0, 40_000, 1, EXCLUSIVE)
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"granted": 41_000}, "lock", 1, rank=1)
    waiting.add(42_000, "wait_ended", "request", number=1, window=0)
    assert found(run_of(tmp_path, waiting, holder))[0] == ("Late Unlock", 1, 40_000)


def test_what_comes_behind_an_operation_of_a_granted_lock_is_its_transfer(tmp_path):
    waiting, other = ranks_of(2, "MPI_Wait")
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"granted": 2_000}, "lock", 1, rank=1)
    waiting.add(9_000, "wait_ended", "request", number=1, window=0)
    assert found(run_of(tmp_path, waiting, other))[-1] == ("Transfer", None, 9_000)


# An epoch is deferred behind another one


def chain_of(reason: str, call: str, number: int = 1) -> list[RecordWriter]:
    """Three access epochs, one after the other, to targets that post at 5,000, at 200 and at 7,000;
    the rank waits for the last one."""
    ranks = ranks_of(4, call)
    waiting = ranks[0]
    waiting.epoch({"opened": 0, "activated": 1, "closed": 10}, "access", 1, rank=1)
    for opened, target in ((3, 2), (5, 3)):
        waiting.epoch(
            {"opened": 10 * opened, "deferred": 10 * opened + 1}, "access", opened, rank=target
        )
        waiting.epoch({"closed": 10 * opened + 2}, "access", opened, rank=target)
    waiting.add(100, "wait_begun", reason, number=1, id=1, window=number)
    waiting.epoch({"granted": 5_000, "completed": 5_100}, "access", 1, rank=1)
    waiting.epoch({"activated": 5_100, "granted": 5_101, "completed": 6_000}, "access", 3, rank=2)
    waiting.add(6_000, "completed", "access", number=7, window=2, rank=1)  # another window's
    waiting.epoch({"activated": 6_001}, "access", 5, rank=3)
    waiting.add(6_001, "completed", "exposure", number=9, rank=1)  # behind it
    waiting.epoch({"granted": 7_000, "completed": 7_500}, "access", 5, rank=3)
    waiting.add(7_600, "wait_ended", reason, number=1, window=number)
    return ranks


IN_CHAIN = [
    ("Late Post", 1, 5_000),
    ("Transfer", None, 5_100),
    ("Late Post", 2, 5_101),
    ("Transfer", None, 6_001),
    ("Late Post", 3, 7_000),
]


def test_a_deferred_epoch_waits_for_those_before_it(tmp_path):
    run = run_of(tmp_path, *chain_of("request", "MPI_Waitall", 0))
    assert found(run) == [*IN_CHAIN, ("Transfer", None, 7_500), ("Wait for Request", None, 7_600)]


def test_a_blocking_call_on_a_deferred_epoch_waits_for_those_before_it(tmp_path):
    """An exposure epoch that ends meanwhile is none of them."""
    waiting, *others = chain_of("complete", "MPI_Win_complete")
    waiting.entries.pop()
    waiting.epoch({"activated": 7_501, "told": 7_510, "completed": 7_520}, "exposure", 9, rank=1)
    waiting.add(7_600, "wait_ended", "complete", number=1)
    assert found(run_of(tmp_path, waiting, *others)) == [*IN_CHAIN, ("Transfer", None, 7_600)]


def test_a_fence_that_opens_the_next_epoch_in_a_wait(tmp_path):
    """Which has the number of the one that ends."""
    ranks = ranks_of(2)
    for each, entered in zip(ranks, (100, 8_000)):
        each.epoch({"opened": 0, "activated": 1}, "fence", 1)
        each.epoch({"closed": entered}, "fence", 2)
        if each.rank == 0:
            each.add(200, "wait_begun", "fence", number=1, id=1)
        each.epoch({"completed": 8_100, "opened": 8_110, "activated": 8_120}, "fence", 2)
        if each.rank == 0:
            each.add(8_200, "wait_ended", "fence", number=1)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Wait at Fence", 1, 8_000), ("Transfer", None, 8_200)]


def test_a_chain_of_many_epochs(tmp_path):
    """Each target posts when the epoch before has been over for 900."""
    epochs = 1_500
    waiting, other = ranks_of(2, "MPI_Waitall")
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    for number in range(1, epochs + 1):
        time = 1_000 * number
        steps = {"activated": time, "granted": time + 900, "completed": time + 1_000}
        waiting.epoch(steps, "access", number, rank=1)
    waiting.add(1_000 * epochs + 1_000, "wait_ended", "request", number=1, window=0)
    parts = [part for part in found(run_of(tmp_path, waiting, other)) if part[0] == "Late Post"]
    assert [until for *_, until in parts] == [1_000 * n + 900 for n in range(1, epochs + 1)]


def test_a_lock_that_is_given_back_lets_the_next_one_go_on(tmp_path):
    """Before its epoch completes."""
    waiting, holder = ranks_of(2, "MPI_Waitall")
    hold(holder, 0, 40_000, 1, EXCLUSIVE)
    waiting.epoch({"opened": 10, "activated": 11}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"opened": 30, "deferred": 31}, "lock", 3, rank=1, flags=EXCLUSIVE)
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"granted": 41_000, "told": 42_000}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"activated": 42_001, "granted": 43_000}, "lock", 3, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"completed": 44_000}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"told": 45_000, "completed": 46_000}, "lock", 3, rank=1, flags=EXCLUSIVE)
    waiting.add(47_000, "wait_ended", "request", number=1, window=0)
    assert found(run_of(tmp_path, waiting, holder))[:4] == [
        ("Late Unlock", 1, 40_000),
        ("Lock Contention", 1, 40_500),
        ("Lock Contention", None, 41_000),
        ("Transfer", None, 42_001),
    ]


@pytest.mark.parametrize(
    ("call", "of_both", "behind", "key"),
    [
        ("MPI_Win_complete", ("access", "exposure"), "access", "E_A_A_R"),
        ("MPI_Win_complete", ("access", "exposure"), "exposure", "E_A_E_R"),
        ("MPI_Win_wait", ("exposure", "access"), "access", "A_A_A_R"),
        ("MPI_Win_wait", ("exposure", "access"), "lock", "A_A_A_R"),
        ("MPI_Win_wait", ("exposure", "access"), "exposure", "A_A_E_R"),
        ("MPI_Win_wait", ("exposure", "access"), "fence", None),
    ],
)
def test_the_key_by_which_the_late_rank_would_not_have_been_late(
    tmp_path, call, of_both, behind, key
):
    """It calls at 1,000; from 1,001 to 8,000 its epoch is deferred behind another one of its own.
    The wait is from 500 to 9,000."""
    own, its = of_both
    waiting, late = ranks_of(2, call)
    waiting.epoch({"opened": 0, "activated": 10, "closed": 20}, own, 1, rank=1)
    waiting.add(500, "wait_begun", "complete" if own == "access" else own, number=1, id=1)
    last = "granted" if own == "access" else "told"
    waiting.epoch({last: 9_000, "completed": 9_000}, own, 1, rank=1)
    waiting.add(9_000, "wait_ended", "complete" if own == "access" else own, number=1)
    late.epoch({"opened": 0, "activated": 1, "closed": 2}, behind, 1, rank=0)
    late.epoch({"opened": 1_000, "deferred": 1_001, "closed": 1_000}, its, 3, rank=0)
    late.epoch({"completed": 8_000}, behind, 1, rank=0)
    late.epoch({"activated": 8_000, "told": 8_900, "completed": 8_950}, its, 3, rank=0)
    report, text = report_of(run_of(tmp_path, waiting, late))
    (row,) = (row for row in report.rows if row.late)
    deferred = {name: round(seconds * 1e9) for name, seconds in row.deferred.items()}
    assert deferred == ({key: 7_000} if key else {})
    sentence = (
        "Rank 1 had called in time, but its epoch was deferred behind an earlier epoch of that "
        f"rank for 82 % of the wait. With the info key {key} on the window it may overtake that "
        "epoch: a promise that the two use no common data."
    )
    assert (sentence in text) == (key is not None), text


def test_an_end_is_led_to_by_that_of_the_same_access(tmp_path):
    """The origin has ended its next access to the rank, too, when that learns of the first end."""
    waiting, origin = ranks_of(2, "MPI_Win_wait")
    waiting.epoch({"opened": 0, "activated": 10, "closed": 20}, "exposure", 1, rank=1)
    waiting.add(500, "wait_begun", "exposure", number=1, id=1)
    waiting.epoch({"told": 9_000, "completed": 9_000}, "exposure", 1, rank=1, access=7)
    waiting.add(9_000, "wait_ended", "exposure", number=1)
    origin.epoch({"opened": 0, "activated": 1, "closed": 4_000}, "access", 1, rank=0)
    origin.epoch({"told": 8_000, "completed": 8_000}, "access", 1, rank=0, access=7)
    origin.epoch({"opened": 8_100, "activated": 8_100, "closed": 8_200}, "access", 3, rank=0)
    origin.epoch({"told": 8_300, "completed": 8_300}, "access", 3, rank=0, access=8)
    (late,) = wait_states(run_of(tmp_path, waiting, origin))
    assert late.pattern == "Late Complete"
    assert late.ended_by.step.time == BEGUN + 8_000


def test_of_several_posts_one_has_come_when_the_record_ends(tmp_path):
    waiting, *others = ranks_of(3, "MPI_Win_complete")
    waiting.epoch({"opened": 0, "activated": 10, "closed": 20}, "access", 1)
    waiting.add(100, "wait_begun", "complete", number=1, id=1)
    waiting.epoch({"granted": 5_000}, "access", 1, rank=1)
    waiting.add(9_000, "wait_lasts", "complete", number=1)
    run = run_of(tmp_path, waiting, *others, ended=False)
    assert found(run) == [("Late Post", 1, 5_000), ("Late Post", None, 9_000)]


@pytest.mark.parametrize("reason", ["flush", "lock", "unlock"])
def test_a_wait_for_one_target_is_for_no_other_lock(tmp_path, reason):
    waiting, *others = ranks_of(4, "MPI_Win_flush")
    hold(others[2], 0, 3_000, 1, EXCLUSIVE)
    waiting.add(100, "wait_begun", reason, number=1, rank=2, id=1)
    waiting.add(4_000, "granted", "lock_all", number=1, rank=1)
    waiting.add(9_000, "granted", "lock_all", number=1, rank=2)
    waiting.add(9_500, "wait_ended", reason, number=1, rank=2)
    parts = [("Lock Contention", None, 9_000), ("Transfer", None, 9_500)]
    assert found(run_of(tmp_path, waiting, *others)) == parts


def test_an_epoch_overtakes_by_one_key_what_is_of_one_kind(tmp_path):
    """It is deferred behind an exposure until 5,000 and behind two accesses until 8,000."""
    waiting, late = ranks_of(2, "MPI_Win_complete")
    waiting.epoch({"opened": 0, "activated": 10, "closed": 20}, "access", 1, rank=1)
    waiting.add(500, "wait_begun", "complete", number=1, id=1)
    waiting.epoch({"granted": 9_000, "completed": 9_000}, "access", 1, rank=1)
    waiting.add(9_000, "wait_ended", "complete", number=1)
    late.epoch({"opened": 1_000, "deferred": 1_001}, "exposure", 9, rank=0)
    late.add(5_000, "completed", "exposure", number=1, rank=0)
    late.add(7_000, "completed", "access", number=2, rank=0)
    late.add(8_000, "completed", "access", number=3, rank=0)
    late.epoch({"activated": 8_000}, "exposure", 9, rank=0)
    report, _ = report_of(run_of(tmp_path, waiting, late))
    (row,) = (row for row in report.rows if row.deferred)
    assert {key: round(seconds * 1e9) for key, seconds in row.deferred.items()} == {
        "E_A_A_R": 3_000
    }


def test_savings_of_a_row_add_up(tmp_path):
    """Two ranks are late, one after the other: each has called a thousand before the wait begins,
    and a thousand since its call before that; its epoch is deferred until 8,000."""
    waiting, *late = ranks_of(3, "MPI_Win_complete")
    for turn, each in enumerate(late):
        at, number = 20_000 * turn, 2 * turn + 1
        steps = {"opened": at, "activated": at + 10, "closed": at + 20}
        waiting.epoch(steps, "access", number, rank=each.rank)
        waiting.add(at + 2_000, "wait_begun", "complete", number=number, id=1)
        waiting.epoch(
            {"granted": at + 9_000, "completed": at + 9_000}, "access", number, rank=each.rank
        )
        waiting.add(at + 9_000, "wait_ended", "complete", number=number)
        each.epoch({"opened": at - 100 if turn else 0, "closed": at}, "access", 1, rank=0)
        each.epoch({"opened": at + 1_000, "deferred": at + 1_001}, "exposure", 3, rank=0)
        each.epoch({"completed": at + 8_000}, "access", 1, rank=0)
        each.epoch({"activated": at + 8_000}, "exposure", 3, rank=0)
    report, text = report_of(run_of(tmp_path, waiting, *late))
    (row,) = (row for row in report.rows if row.late)
    assert row.late.keys() == {1, 2} and row.count == 2
    assert row.deferred == {"E_A_A_R": pytest.approx(12_000e-9)}
    assert row.avoidable == pytest.approx(2_000e-9)
    assert "A late rank had called in time, but its epoch was deferred" in text


def test_a_late_rank_may_learn_of_a_grant_in_the_late_call(tmp_path):
    """Its last call was at 100."""
    waiting, late = both_epochs("complete", "MPI_Win_complete")
    waiting.add(9_000, "wait_ended", "complete", number=1)
    late.epoch({"opened": 50, "closed": 100}, "access", 1, rank=0)
    late.epoch({"granted": 4_400, "told": 4_410, "completed": 4_420}, "access", 1, rank=0)
    late.epoch({"opened": 4_500}, "exposure", 3, rank=0)
    assert avoidable(run_of(tmp_path, waiting, late)) == {"Late Post": 4_400}


def test_a_wait_for_one_lock_is_not_for_those_of_another_thread(tmp_path):
    """Which takes and gives back a lock of rank 2 meanwhile."""
    waiting, holder, other = ranks_of(3, "MPI_Win_flush")
    hold(holder, 0, 40_000, 1, EXCLUSIVE)
    waiting.epoch({"opened": 10, "activated": 11}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.add(100, "wait_begun", "flush", number=1, rank=1, id=1)
    waiting.epoch({"granted": 41_000}, "lock", 1, rank=1, flags=EXCLUSIVE)
    for number in (5, 7):
        begun = 41_000 + 100 * number
        steps = {"opened": begun, "deferred": begun, "activated": begun + 10, "granted": begun + 20}
        waiting.epoch({**steps, "completed": begun + 30}, "lock", number, rank=2)
    waiting.add(42_000, "wait_ended", "flush", number=1, rank=1)
    assert found(run_of(tmp_path, waiting, holder, other)) == [
        ("Late Unlock", 1, 40_000),
        ("Lock Contention", 1, 40_500),
        ("Lock Contention", None, 41_000),
        ("Transfer", None, 42_000),
    ]


def test_a_flush_that_never_ended_is_nobodys_lock(tmp_path):
    """All share it; its target serves nobody."""
    waiting, other, target = ranks_of(3, "MPI_Win_flush")
    for each in (waiting, other):
        each.epoch({"opened": 10, "activated": 11, "granted": 20}, "lock_all", 1, rank=2)
    waiting.add(100, "wait_begun", "flush", number=1, rank=2, id=1)
    waiting.add(9_000, "wait_lasts", "flush", number=1, rank=2)
    run = run_of(tmp_path, waiting, other, target, ended=False)
    assert found(run) == [("Transfer", None, 9_000)]


def test_windows_without_a_name_have_one_row(tmp_path):
    """A program may make a window for each step."""
    waiting, late = ranks_of(2)
    for number in (2, 3, 4):
        for each in (waiting, late):
            each.window(number, "", "0-1", each.rank, first=number)
        begun = number * 10_000
        waiting.add(begun, "wait_begun", "complete", number=number, window=number, id=1)
        waiting.epoch({"granted": begun + 900}, "access", 1, window=number, rank=1)
        waiting.add(begun + 1_000, "wait_ended", "complete", number=number, window=number)
        late.epoch({"opened": begun + 800}, "exposure", 1, window=number, rank=0)
    report, text = report_of(run_of(tmp_path, waiting, late))
    (row,) = (row for row in report.rows if row.pattern == "Late Post")
    assert (row.window, row.count, row.seconds) == ("3 without a name", 3, pytest.approx(2.7e-6))


def test_records_of_two_runs_are_not_mixed(tmp_path):
    """Ranks that find a record of theirs write none; those that a smaller run has not had, do."""
    (tmp_path / "again").mkdir()
    run_of(tmp_path, *ranks_of(2))
    run_of(tmp_path / "again", *ranks_of(4))
    for name in ("rank-2", "rank-3"):
        for ending in (".record", ".names"):
            shutil.move(tmp_path / "again" / (name + ending), tmp_path / (name + ending))
    with pytest.raises(RecordError, match="records of several runs"):
        read_records(tmp_path)


def test_a_rank_that_recorded_only_in_the_second_run(tmp_path):
    first, second = ranks_of(2)
    first.add(5_000, "opened", "lock", number=1)
    second.begun += 10_000
    with pytest.raises(RecordError, match="records of several runs"):
        run_of(tmp_path, first, second)
    second.begun -= 5_000
    assert len(run_of(tmp_path, first, second).histories) == 2


def test_a_program_that_is_younger_than_its_record(tmp_path):
    """Its lines are others by now."""
    program = tmp_path / "program"
    program.write_bytes(b"no executable")
    waiting, late = ranks_of(2)
    waiting.site(9, "MPI_Win_wait", "f", str(program))
    run = run_of(tmp_path, waiting, late)
    os.utime(program, (0, 0))
    assert notes(make_report(run)) == []
    os.utime(program, (4e9, 4e9))
    assert notes(make_report(run)) == [
        "program has changed since the run, so functions and lines may be wrong. Run again to get "
        "them right."
    ]


def test_events_without_space_are_told(tmp_path):
    report, _ = report_of(run_of(tmp_path, *ranks_of(2)))
    report.lost = 12_345
    (note,) = notes(report)
    assert "disk of the report's folder was full: 12,345 events" in note and "run again" in note


def test_the_time_in_messages_of_the_mpi_library_is_told(tmp_path):
    """Of the processes that ended MPI: the others did not write it."""
    ranks = ranks_of(3)
    for each in ranks:
        each.add(999_000, "queue_full", "")
    ranks[0].in_host = 200_000
    ranks[1].in_host = 300_000
    ranks[2].write(tmp_path, ended=False)
    report, _ = report_of(run_of(tmp_path, *ranks[:2]))
    assert report.host_seconds == pytest.approx(5e-4)
    assert report.host_share == pytest.approx(0.25)
    assert notes(report)[-1] == (
        "25.0 % of the ranks' time (0.001 s) was in messages and collectives, which Oriel leaves "
        "to the MPI library."
    )
    ranks[0].in_host = ranks[1].in_host = 9_000
    report, _ = report_of(run_of(tmp_path, *ranks[:2]))
    assert not any("messages" in note for note in notes(report))


def test_a_request_for_the_hosts_messages_is_no_transfer(tmp_path):
    """An epoch is opened meanwhile; none ends."""
    waiting, other = ranks_of(2, "MPI_Wait")
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"opened": 200}, "lock", 1, rank=1)
    waiting.add(9_000, "wait_ended", "request", number=1, window=0)
    assert found(run_of(tmp_path, waiting, other)) == [("Wait for Request", None, 9_000)]


@pytest.mark.parametrize("call", ["MPI_Win_create", "MPI_Win_allocate_shared"])
def test_the_making_of_a_window_waits_for_the_last_rank(tmp_path, call):
    """The window has no name yet; a later wait in the same call, as of a rank that has come, is
    not its arrival."""
    ranks = ranks_of(3, call)
    for each, come in zip(ranks, (1_000, 60_000, 20_000)):
        for number, (begun, ended) in enumerate(((come, 70_000), (80_000, 81_000)), start=1):
            each.add(begun, "wait_begun", "window", number=number, id=1)
            each.add(ended, "wait_ended", "window", number=number)
    run = run_of(tmp_path, *ranks)
    rest = ("Wait at Window Create", None, 81_000)
    assert found(run, 0) == [
        ("Wait at Window Create", 1, 60_000),
        ("Wait at Window Create", None, 70_000),
        rest,
    ]
    assert found(run, 1) == [("Wait at Window Create", None, 70_000), rest]
    assert next(wait_states(run)).ended_by.time == BEGUN + 60_000


def test_the_making_of_a_window_without_an_event_is_one_all_the_same(tmp_path):
    """Its line is written with its first event."""
    waiting, other = ranks_of(2, "MPI_Win_allocate")
    waiting.add(100, "wait_begun", "window", number=1, window=9, id=1)
    waiting.add(9_000, "wait_ended", "window", number=1, window=9)
    run = run_of(tmp_path, waiting, other)
    assert found(run) == [("Wait at Window Create", None, 9_000)]


def test_the_freeing_of_a_window_waits_for_the_last_rank(tmp_path):
    early, late = ranks_of(2, "MPI_Win_free")
    for each, entered in ((early, 1_000), (late, 60_000)):
        each.epoch({"opened": 0, "closed": entered}, "fence", 1)
    early.add(1_100, "wait_begun", "window", number=1, id=1)
    early.epoch({"completed": 70_000}, "fence", 1)
    early.add(70_100, "wait_ended", "window", number=1)
    run = run_of(tmp_path, early, late)
    assert found(run) == [("Wait at Window Free", 1, 60_000), ("Wait at Window Free", None, 70_100)]
    assert next(wait_states(run)).ended_by[1].time == BEGUN + 60_000


def test_a_call_on_a_window_is_not_always_its_end(tmp_path):
    rank, other = ranks_of(2, "ORIEL_Win_set_num_notify")
    rank.add(100, "wait_begun", "window", number=1, id=1)
    rank.add(9_000, "wait_ended", "window", number=1)
    assert found(run_of(tmp_path, rank, other)) == [("Wait at Window Call", None, 9_000)]


def test_a_fence_that_never_ends_waits_for_ranks(tmp_path):
    """Not for transfers: who has not come is not known."""
    rank, other = ranks_of(2)
    rank.epoch({"closed": 50}, "fence", 1)
    rank.add(100, "wait_begun", "fence", number=1, id=1)
    rank.add(9_000, "wait_lasts", "fence", number=1)
    assert found(run_of(tmp_path, rank, other, ended=False)) == [("Wait at Fence", None, 9_000)]


# Locks


def hold(rank: RecordWriter, begun: int, unlock: int, number: int, flags: int) -> None:
    rank.epoch(
        {"opened": begun, "granted": begun + 10, "closed": unlock, "told": unlock + 500},
        "lock", number, rank=1, flags=flags,
    )  # fmt: skip


def wait_for_lock(rank: RecordWriter, begun: int, granted: int, flags: int) -> None:
    rank.epoch({"opened": begun - 100, "closed": begun - 50}, "lock", 1, rank=1, flags=flags)
    rank.add(begun, "wait_begun", "unlock", number=1, rank=1, id=1)
    rank.epoch(
        {"granted": granted, "told": granted + 100, "completed": granted + 200},
        "lock", 1, rank=1, flags=flags,
    )  # fmt: skip
    rank.add(granted + 300, "wait_ended", "unlock", number=1, rank=1)


def test_a_lock_is_recorded_as_given_back_after_the_next_grant(tmp_path):
    """Its holder has called unlock long before; the next but one is not waited for."""
    waiting, holder, next_one = ranks_of(3, "MPI_Win_unlock")
    holder.epoch({"opened": 0, "granted": 10, "closed": 500}, "lock", 1, rank=1, flags=EXCLUSIVE)
    holder.epoch({"told": 51_040}, "lock", 1, rank=1, flags=EXCLUSIVE)
    hold(next_one, 51_400, 52_000, 1, EXCLUSIVE)
    wait_for_lock(waiting, 1_000, 51_000, EXCLUSIVE)
    run = run_of(tmp_path, waiting, holder, next_one)
    assert found(run) == [("Lock Contention", 1, 51_000), ("Transfer", None, 51_300)]
    assert next(wait_states(run)).ended_by.time == BEGUN + 51_040
    (numbers,) = _waits(make_report(run), run).values()
    _, begun, lost, _, step = numbers[:5]
    assert step == begun + lost  # an arrow does not lead back


def test_an_exclusive_lock_waits_for_the_last_that_shares_it(tmp_path):
    """Had the other one unlocked earlier, nothing would have been spared. It is one wait."""
    waiting, one, two = ranks_of(3, "MPI_Win_unlock")
    hold(one, 0, 30_000, 1, 0)
    hold(two, 0, 50_000, 1, 0)
    wait_for_lock(waiting, 1_000, 51_000, EXCLUSIVE)
    run = run_of(tmp_path, waiting, one, two)
    assert found(run) == [
        ("Late Unlock", 2, 50_000),
        ("Lock Contention", 2, 50_500),
        ("Lock Contention", None, 51_000),
        ("Transfer", None, 51_300),
    ]
    (row,) = (row for row in make_report(run).rows if row.pattern == "Lock Contention")
    assert (row.count, row.seconds) == (1, pytest.approx(1e-6))


@pytest.mark.parametrize("granted", [40_000, 60_000])
def test_an_unlock_that_travels_with_its_lock_is_no_hold(tmp_path, granted):
    """On another node it is granted after the rank has told that it is over, at a time that this
    rank does not know."""
    waiting, other = ranks_of(2, "MPI_Win_unlock")
    other.epoch(
        {"opened": 10_000, "closed": 20_000, "told": 20_100, "granted": granted},
        "lock", 1, rank=1, flags=EXCLUSIVE,
    )  # fmt: skip
    wait_for_lock(waiting, 1_000, 51_000, EXCLUSIVE)
    assert found(run_of(tmp_path, waiting, other))[0] == ("Lock Contention", None, 51_000)


def test_a_shared_lock_waits_for_the_exclusive_one_alone(tmp_path):
    """Another shared lock is held all the time."""
    waiting, exclusive, shared = ranks_of(3, "MPI_Win_unlock")
    hold(exclusive, 0, 30_000, 1, EXCLUSIVE)
    hold(shared, 30_600, 90_000, 1, 0)
    wait_for_lock(waiting, 1_000, 31_000, 0)
    assert found(run_of(tmp_path, waiting, exclusive, shared)) == [
        ("Late Unlock", 1, 30_000),
        ("Lock Contention", 1, 30_500),
        ("Lock Contention", None, 31_000),
        ("Transfer", None, 31_300),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("unlock", "Late Unlock"),
        ("complete", "Late Post"),
        ("exposure", "Late Complete"),
        ("fence", "Wait at Fence"),
    ],
)
def test_a_wait_that_never_ended(tmp_path, reason, expected):
    """The job was killed; rank 1 holds the lock since long, rank 2 has given it back."""
    waiting, holder, other = ranks_of(3, "MPI_Win_unlock")
    hold(other, 0, 400, 1, EXCLUSIVE)
    holder.epoch({"opened": 1_000, "granted": 1_010}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"opened": 1_500, "closed": 1_600}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.add(2_000, "wait_begun", reason, number=1, rank=1, id=1)
    waiting.add(90_000, "wait_lasts", reason, number=1, rank=1)
    (state,) = found(run_of(tmp_path, waiting, holder, other, ended=False))
    assert state == (expected, 1, 90_000)


@pytest.mark.parametrize(
    ("reason", "granted", "epoch", "expected"),
    [
        ("complete", "granted", "access", "Late Post"),
        ("exposure", "told", "exposure", "Late Complete"),
    ],
)
def test_of_several_ranks_one_never_came(tmp_path, reason, granted, epoch, expected):
    waiting, early, late = ranks_of(3)
    waiting.add(2_000, "wait_begun", reason, number=1, id=1)
    waiting.add(3_000, "wait_lasts", reason, number=1)
    waiting.epoch({granted: 4_000}, epoch, 1, rank=1)
    waiting.add(90_000, "wait_lasts", reason, number=1, rank=2)
    (state,) = found(run_of(tmp_path, waiting, early, late, ended=False))
    assert state == (expected, 2, 90_000)


def test_two_ranks_that_wait_for_one_another_to_their_end(tmp_path):
    ranks = ranks_of(2, "MPI_Win_complete")
    for each in ranks:
        each.epoch({"opened": 100, "closed": 200}, "access", 1)
        each.add(300, "wait_begun", "complete", number=1, id=1)
        each.add(90_000, "wait_lasts", "complete", number=1, rank=1 - each.rank)
    run = run_of(tmp_path, *ranks, ended=False)
    assert [found(run, rank) for rank in (0, 1)] == [
        [("Late Post", 1, 90_000)],
        [("Late Post", 0, 90_000)],
    ]


def test_the_last_of_several_posts_ends_the_wait(tmp_path):
    """And a message of the MPI's own, for which the same call waits, has no window."""
    waiting, one, two = ranks_of(3, "MPI_Waitall")
    waiting.epoch({"opened": 50}, "access", 1)
    waiting.add(100, "wait_begun", "request", number=1, window=0, id=1)
    for rank, time in ((1, 2_000), (2, 6_000)):
        waiting.epoch({"granted": time}, "access", 1, rank=rank)
    waiting.epoch({"completed": 7_000}, "access", 1)
    waiting.add(50_000, "wait_ended", "request", number=1, window=0)
    run = run_of(tmp_path, waiting, one, two)
    states = [state for state in wait_states(run) if state.history.rank == 0]
    assert [(each.pattern, each.late) for each in states] == [
        ("Late Post", 2), ("Transfer", None), ("Wait for Request", None)
    ]  # fmt: skip
    assert [each.window and each.window.name for each in states] == ["window", "window", None]


def test_a_late_rank_is_spared_nothing_by_its_calls_on_other_windows(tmp_path):
    """Nor for longer than it has recorded."""
    waiting, late = ranks_of(2, "MPI_Win_complete")
    late.window(2, "other", "0-1", 1, first=2)
    late.begun += 1_000
    waiting.add(500, "wait_begun", "complete", number=1, id=1)
    waiting.epoch({"granted": 9_000, "completed": 9_100}, "access", 1, rank=1)
    waiting.add(9_200, "wait_ended", "complete", number=1)
    late.epoch({"opened": 3_000}, "fence", 1, window=2)
    late.epoch({"opened": 7_900}, "exposure", 1, rank=0)
    assert avoidable(run_of(tmp_path, waiting, late)) == {"Late Post": 7_900}


def test_names_that_are_cut(tmp_path):
    """There was no space for the rest of the line, or the rank was killed."""
    waiting, late = ranks_of(2)
    waiting.lines += ["site\t2", "site\t3\tMPI_Win_wait\t4x\tf\tprogram", "window\t7\t0"]
    waiting.lines += ["window\t8\tx\t1\t0-1\tname", "site\t4\tMPI_Win_wait\t40"]
    run = run_of(tmp_path, waiting, late)
    record = run.histories[0].record
    assert (record.windows.keys(), record.sites.keys()) == ({1}, {1, 4})
    assert record.sites[4].callers == ()
    make_report(run)


@pytest.mark.parametrize(
    "ranks",
    ["0-99999999999", "0-2", "2", "1-0", "0--1", "-1", "0,0,0", "0-1,0", "0-99999999999999999999"],
)
def test_ranks_that_no_window_can_have(tmp_path, ranks):
    """The line is left out, as one that is cut."""
    waiting, late = ranks_of(2)
    waiting.window(2, "damaged", ranks, 0)
    assert run_of(tmp_path, waiting, late).histories[0].record.windows.keys() == {1}


def test_a_window_of_a_process_that_does_not_know_how_many_ranks_there_are(tmp_path):
    """MPI_COMM_WORLD has come behind its first window."""
    waiting = process(4711)
    for number, ranks in ((2, "0-1"), (3, "0-99999999999")):
        waiting.window(number, "of the world", ranks, 0)
    windows = run_of(tmp_path, waiting).histories[0].record.windows
    assert windows[2].ranks == (0, 1) and 3 not in windows


@pytest.mark.parametrize(("rank", "ranks"), [(0, 0), (2, 2), (0, -1), (-1, 2), (0, 2**31 - 1)])
def test_a_rank_that_no_run_can_have(tmp_path, rank, ranks):
    RecordWriter(rank, ranks).write(tmp_path)
    with pytest.raises(RecordError, match=f"is damaged: it is of rank {rank} of {ranks}"):
        read_records(tmp_path)


def test_names_do_not_control_the_terminal(tmp_path):
    waiting, late = ranks_of(2)
    for each in (waiting, late):
        each.window(2, "a\x1b[31m\x9b\u202ew\u00efn", "0-1", each.rank, first=2)
    waiting.add(100, "wait_begun", "notification", number=1, window=2, rank=1, id=1)
    waiting.add(9_000, "wait_ended", "notification", number=1, window=2, rank=1)
    assert 'window "a?[31m??w\u00efn"' in report_of(run_of(tmp_path, waiting, late))[1]


# Which record is whose


def process(pid: int, **kinds) -> RecordWriter:
    one = RecordWriter(-1, -1, pid=pid, **kinds)
    one.window(1, "", "", 0)
    one.site(1, "MPI_Win_fence", "main")
    one.epoch({"opened": 0, "closed": 1_000}, "fence", 1)
    return one


def test_windows_outside_mpi_comm_world_have_no_late_ranks(tmp_path):
    alone = process(101)
    for number, (kind, reason) in enumerate(
        (("granted", "complete"), ("told", "exposure"), ("granted", "lock"), ("", "notification"))
    ):
        begun = 10_000 * (number + 1)
        alone.add(begun, "wait_begun", reason, number=number + 1, rank=1, id=1)
        if kind:
            epochs = {"complete": "access"}.get(reason, reason)
            alone.add(begun + 4_000, kind, epochs, number=9, rank=1)
        alone.add(begun + 5_000, "wait_ended", reason, number=number + 1, rank=1)
    run = run_of(tmp_path, alone)
    assert [(name, late) for name, late, _ in found(run, -1)] == [
        ("Late Post", None),
        ("Transfer", None),
        ("Late Complete", None),
        ("Transfer", None),
        ("Lock Contention", None),
        ("Transfer", None),
        ("Wait for Notification", None),
    ]
    assert "1 process without MPI_COMM_WORLD" in report_on(tmp_path, timeline=True)


def test_processes_without_mpi_comm_world_are_apart(tmp_path):
    """Their windows and fences have the same numbers."""
    early, late = process(101), process(202)
    early.add(1_100, "wait_begun", "fence", number=1, id=1)
    early.epoch({"completed": 80_000}, "fence", 1)
    early.add(80_100, "wait_ended", "fence", number=1)
    late.epoch({"renewing": 79_000}, "fence", 1)
    run = run_of(tmp_path, early, late)
    assert found(run, -1) == [("Wait at Fence", None, 80_100)]
    report, text = report_of(run)
    assert (report.ranks, report.processes, report.missing) == (0, [101, 202], [])
    assert "waits of 2 processes without MPI_COMM_WORLD" in text
    assert 'window "1 of process 101"' in text
    (row,) = report.rows
    assert row.waited == {"process 101": pytest.approx(79e-6)}
    write_page(report, run, tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text("utf-8")
    assert '"name":"process 101"' in page and '"name":"process 202"' in page
    write_timeline(report, run, tmp_path / "timeline.json")
    events = json.loads((tmp_path / "timeline.json").read_text("utf-8"))["traceEvents"]
    names = {
        event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"
    }
    assert names == {101: "process 101", 202: "process 202"}


def test_ranks_with_windows_to_other_processes_are_apart(tmp_path):
    """Each has one with a process that it has spawned."""
    early, late = ranks_of(2)
    for each, entered in ((early, 1_000), (late, 60_000)):
        each.window(2, "", "", 0)
        each.epoch({"opened": 0, "closed": entered}, "fence", 1, window=2)
    early.add(1_100, "wait_begun", "fence", number=1, window=2, id=1)
    early.epoch({"completed": 80_000}, "fence", 1, window=2)
    early.add(80_100, "wait_ended", "fence", number=1, window=2)
    run = run_of(tmp_path, early, late)
    assert found(run) == [("Wait at Fence", None, 80_100)]
    assert 'window "2 of rank 0"' in report_of(run)[1]


def test_a_second_engine_of_a_rank_replaces_nothing(tmp_path):
    """rank-0-2.record: its windows have the numbers of the first engine's."""
    first, peer = ranks_of(2)
    second = RecordWriter(0, 2, engine=2, begun=BEGUN + 1_000_000)
    second.window(1, "later", "0-1", 0)
    second.site(1, "MPI_Win_fence", "main")
    for each in (first, second):
        each.epoch({"opened": 0, "closed": 100}, "fence", 1)
        each.add(200, "wait_begun", "fence", number=1, id=1)
        each.epoch({"completed": 50_000}, "fence", 1)
        each.add(50_100, "wait_ended", "fence", number=1)
    peer.epoch({"opened": 0, "closed": 49_000}, "fence", 1)
    run = run_of(tmp_path, first, peer, second)
    assert found(run) == [
        ("Wait at Fence", 1, 49_000),
        ("Transfer", None, 50_100),
        ("Wait at Fence", None, 1_050_100),  # the peer has no second engine
    ]
    report, _ = report_of(run)
    assert report.ranks == 2
    assert sum(row.waited["0"] for row in report.rows) == pytest.approx(2 * 49_900e-9)
    write_page(report, run, tmp_path / "index.html")
    assert (tmp_path / "index.html").read_text("utf-8").count('"name":"rank 0"') == 1


def test_clocks_of_two_machines_are_not_compared(tmp_path):
    """The third rank, on a machine started long before, entered last by a clock of its own."""
    early, late, far = ranks_of(3)
    far.boot, far.begun = b"another", 90 * BEGUN
    for each, entered in ((early, 1_000), (late, 60_000), (far, 2_000)):
        each.epoch({"opened": 0, "closed": entered}, "fence", 1)
    early.add(1_100, "wait_begun", "fence", number=1, id=1)
    for each in (early, late, far):
        each.epoch({"completed": 90_000}, "fence", 1)
    early.add(90_100, "wait_ended", "fence", number=1)
    run = run_of(tmp_path, early, late, far)
    # When the third entered is not known, so neither is whether what remains was for transfers.
    assert found(run) == [("Wait at Fence", 1, 60_000), ("Wait at Fence", None, 90_100)]
    note = "Nothing compares the clocks of node, node: late ranks and arrows are found within each"
    assert note in report_on(tmp_path, timeline=True)
    written = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert written["notes"][0].startswith(note)
    assert [each["clock"] for each in written["machines"]] == [0, 1]
    page = (tmp_path / "index.html").read_text("utf-8")
    assert note in page and '"span":91100,' in page  # each rank from the begin of its machine
    events = json.loads((tmp_path / "timeline.json").read_text("utf-8"))["traceEvents"]
    assert max(event.get("ts", 0) for event in events) < 100


def test_holders_and_steps_of_another_machine_are_not_compared(tmp_path):
    waiting, holder = ranks_of(2, "MPI_Win_unlock")
    hold(holder, 0, 30_000, 1, EXCLUSIVE)
    holder.boot = b"another"
    wait_for_lock(waiting, 1_000, 31_000, EXCLUSIVE)
    run = run_of(tmp_path, waiting, holder)
    assert found(run) == [("Lock Contention", None, 31_000), ("Transfer", None, 31_300)]

    post, elsewhere = both_epochs("complete", "MPI_Win_complete")
    elsewhere.epoch({"opened": 4_000}, "exposure", 1, rank=0)
    post.add(9_000, "wait_ended", "complete", number=1)
    for boot, arrow in ((b"boot", True), (b"another", False)):
        elsewhere.boot = boot
        run = run_of(tmp_path, post, elsewhere)
        state = next(wait_states(run))
        assert (state.pattern, state.late) == ("Late Post", 1)
        assert (state.ended_by is not None) == arrow


# Matching, names, what cannot be read


def test_waits_of_threads_end_by_their_numbers(tmp_path):
    """The same call on the same window: the one that begins first ends first."""
    rank, other = ranks_of(2, "MPI_Win_flush")
    rank.add(1_000, "wait_begun", "flush", number=1, rank=1, id=1)
    rank.add(2_000, "wait_begun", "flush", number=2, rank=1, id=1)
    rank.add(3_000, "wait_lasts", "flush", number=1, rank=1)
    rank.add(4_000, "wait_ended", "flush", number=1, rank=1)
    rank.add(9_000, "wait_ended", "flush", number=2, rank=1)
    run = run_of(tmp_path, rank, other)
    waits = [(wait.begun - BEGUN, wait.ended - BEGUN) for wait in run.histories[0].waits()]
    assert waits == [(1_000, 4_000), (2_000, 9_000)]


@pytest.mark.parametrize("name", ["one\u2028line", "next\x85line", "a\x0cb", "with\ttab"])
def test_a_name_does_not_end_its_line(tmp_path, name):
    write_late_posts(tmp_path, 1, 2, window=name)
    run = Run(*read_records(tmp_path))
    for history in run.histories:
        assert history.record.windows[1].name == printable(name.replace("\t", " "))
    assert run.histories[0].record.sites[1].call == "MPI_Win_complete"


def test_a_line_that_was_cut_is_not_read(tmp_path):
    """Of a rank that was killed while it wrote."""
    write_late_posts(tmp_path, 1, 2)
    with (tmp_path / "rank-0.names").open("a", encoding="utf-8") as file:
        file.write("window\t2\t0\t1\t0-1\tna")
    assert list(read_records(tmp_path)[0][0].windows) == [1]


@pytest.mark.parametrize("content", [b"", b"hello", b"orielrec", b"no record " * 1_000])
def test_what_cannot_be_read_is_left_out(tmp_path, content):
    write_late_posts(tmp_path, 2, 2)
    (tmp_path / "rank-3.record").write_bytes(content)
    text = report_on(tmp_path)
    assert f"{tmp_path / 'rank-3.record'} is no record of Oriel's" in text
    assert "It is left out." in text and "has left no record" not in text
    assert "Late Post" in text
    for path in tmp_path.glob("*.record"):
        path.write_bytes(content)
    with pytest.raises(RecordError, match=r"is no record of Oriel's, .* Remove it, or run"):
        read_records(tmp_path)


def test_ranks_without_a_record_are_told(tmp_path):
    write_late_posts(tmp_path, 2, 2)
    (tmp_path / "rank-3.record").unlink()
    report, _ = report_of(Run(*read_records(tmp_path)))
    assert notes(report) == [
        "Rank 3 has left no record: it made no window, or could not write to the folder."
    ]


def test_a_record_that_cannot_be_opened_is_left_out(tmp_path):
    write_late_posts(tmp_path, 2, 2)
    (tmp_path / "rank-3.record").unlink()
    (tmp_path / "rank-3.record").mkdir()
    assert "rank-3.record cannot be read (Is a directory). It is left out." in report_on(tmp_path)


def test_a_pipe_is_no_record(tmp_path):
    write_late_posts(tmp_path, 1, 2)
    os.mkfifo(tmp_path / "rank-7.record")
    assert "rank-7.record is no record of Oriel's. It is left out." in report_on(tmp_path)


def test_links_to_other_files_are_not_followed(tmp_path):
    """Somebody may put them where a report is going to be."""
    (tmp_path / "other").write_text("not ours")
    folder = tmp_path / "report"
    folder.mkdir()
    write_late_posts(folder, 1, 2)
    names = ("report.json", "index.html", "timeline.json")
    for name in names:
        (folder / name).symlink_to(tmp_path / "other")
    report_on(folder, timeline=True)
    assert (tmp_path / "other").read_text() == "not ours"
    assert all((folder / name).stat().st_size > 100 for name in names)
    assert not any((folder / name).is_symlink() for name in names)


def test_a_report_that_cannot_be_written_is_told(tmp_path, capsys):
    """The exit status of `oriel run --report` remains the program's."""
    write_late_posts(tmp_path, 1, 2)
    (tmp_path / "index.html").mkdir()
    _print_report(tmp_path)
    said = capsys.readouterr().err
    assert "The report cannot be made: " in said and "index.html: Is a directory" in said
    assert command(["report", str(tmp_path)]) == 1
    assert "oriel report: The report cannot be made: " in capsys.readouterr().err
    _print_report(tmp_path / "none")
    assert "There is no folder" in capsys.readouterr().err


# What another call would cover


def fences_with_work(*work: int) -> tuple[RecordWriter, RecordWriter]:
    """The first rank waits 50,000 for the second in each fence, and 10,000 for transfers; then it
    works that long, and enters the next."""
    early, late = ranks_of(2)
    begun = 0
    for each in (early, late):
        each.epoch({"opened": 0}, "fence", 0)
    for number, its in enumerate((*work, 0), start=1):
        early.epoch({"renewing": begun}, "fence", number)
        late.epoch({"renewing": begun + 50_100}, "fence", number)
        early.add(begun + 100, "wait_begun", "fence", number=number, id=1)
        early.epoch({"renewed": begun + 60_000}, "fence", number)
        early.add(begun + 60_100, "wait_ended", "fence", number=number)
        begun += 60_100 + its
    return early, late


def test_work_covers_a_wait_once(tmp_path):
    """20,000 of each wait: of its first part, not of both."""
    report, text = report_of(run_of(tmp_path, *fences_with_work(20_000, 20_000)))
    hidden = {row.pattern: row.hidden * 1e9 for row in report.rows}
    # Behind the last there are 1,000 to the end of the record.
    assert hidden == {"Wait at Fence": pytest.approx(41_000), "Transfer": 0}
    # Of 150,000.
    assert (
        "ORIEL_Win_ifence returns at once; up to 27 % of the wait would be covered, as far as what "
        "the rank does next does not use the epoch's data." in text
    )
    assert "would have covered" not in text


def test_work_covers_the_parts_in_their_order(tmp_path):
    report, _ = report_of(run_of(tmp_path, *fences_with_work(55_000)))
    hidden = {row.pattern: row.hidden * 1e9 for row in report.rows}
    assert hidden == {"Wait at Fence": pytest.approx(51_000), "Transfer": pytest.approx(5_000)}


@pytest.mark.parametrize("kind", ["opened", "closed", "renewing", "wait_begun"])
def test_the_next_call_ends_the_work(tmp_path, kind):
    """However soon it comes; what the call that waited leaves to be done does not."""
    rank, other = ranks_of(2, "MPI_Win_flush")
    rank.add(1_000, "wait_begun", "flush", number=1, rank=1, id=1)
    rank.add(90_000, "wait_ended", "flush", number=1, rank=1)
    for time, step in enumerate(
        ("deferred", "activated", "granted", "told", "completed", "renewed")
    ):
        rank.add(90_001 + time, step, "lock", number=1, rank=1)
    detail = "flush" if kind == "wait_begun" else "lock"
    rank.add(92_000, kind, detail, number=2, rank=1)
    rank.add(99_000, "opened", "lock", number=3, rank=1)
    report, _ = report_of(run_of(tmp_path, rank, other))
    (row,) = (row for row in report.rows if row.call)  # the second wait has no call site
    assert row.hidden * 1e9 == pytest.approx(2_000)


def test_work_is_what_is_no_wait(tmp_path):
    """Other threads wait on another window: one longer than the one before it, one within that,
    and one that goes on behind the work."""
    rank, other = ranks_of(2, "MPI_Win_complete")
    rank.window(2, "other", "0-1", 0, first=2)
    waits = (
        (1_000, 90_000, 1),
        (92_000, 95_000, 2),
        (94_000, 97_000, 2),
        (95_500, 96_000, 2),
        (98_000, 120_000, 2),
    )
    steps = [(100_000, "opened", "access", 9, 1)]
    for number, (begun, ended, window) in enumerate(waits, start=1):
        steps.append((begun, "wait_begun", "complete", number, window))
        steps.append((ended, "wait_ended", "complete", number, window))
    for time, kind, detail, number, window in sorted(steps):
        rank.add(time, kind, detail, number=number, window=window, id=1)
    report, _ = report_of(run_of(tmp_path, rank, other))
    (row,) = (row for row in report.rows if row.window == "window")
    assert row.hidden * 1e9 == pytest.approx(3_000)  # to 92,000 and from 97,000


# What the late rank can spare


def avoidable(run: Run) -> dict[str, float]:
    """Nanoseconds by wait state; of those that are known."""
    report, _ = report_of(run)
    return {
        row.pattern: pytest.approx(row.avoidable * 1e9)
        for row in report.rows
        if row.avoidable is not None
    }


@pytest.mark.parametrize(("opened", "expected"), [(50, 7_900), (6_000, 1_500)])
def test_an_epoch_that_opens_late_cannot_be_closed_early(tmp_path, opened, expected):
    """The origin calls MPI_Win_complete at 7,500 or says so by 8,000; the target waits from 100."""
    waiting, late = both_epochs("exposure", "MPI_Win_wait")
    waiting.add(8_200, "wait_ended", "exposure", number=1)
    late.epoch({"opened": opened, "closed": 7_500 if opened > 100 else 8_000}, "access", 5, rank=0)
    late.epoch({"told": 8_000, "completed": 8_050}, "access", 5, rank=0)
    assert avoidable(run_of(tmp_path, waiting, late)) == {"Late Complete": expected}


def test_a_post_could_come_after_the_call_before_it(tmp_path):
    waiting, late = both_epochs("complete", "MPI_Win_complete")
    waiting.add(9_000, "wait_ended", "complete", number=1)
    late.add(1_000, "wait_begun", "exposure", number=1)
    late.add(2_000, "wait_ended", "exposure", number=1)
    late.epoch({"opened": 4_500}, "exposure", 1, rank=0)
    run = run_of(tmp_path, waiting, late)
    assert avoidable(run) == {"Late Post": 2_500}
    assert (
        "Rank 1: post earlier; MPI_Win_post does not wait. At most 51 % of the wait would have "
        "been spared: the time since the rank's last recorded event on the window."
        in report_of(run)[1]
    )


def test_what_a_late_rank_cannot_spare_is_no_advice(tmp_path):
    """It posts as soon as it has called on the window before."""
    waiting, late = both_epochs("complete", "MPI_Win_complete")
    waiting.add(9_000, "wait_ended", "complete", number=1)
    late.epoch({"opened": 4_400}, "lock", 1, rank=0)
    late.epoch({"opened": 4_500}, "exposure", 3, rank=0)
    assert "Rank 1:" not in report_of(run_of(tmp_path, waiting, late))[1]


def test_a_lock_could_be_given_back_once_it_is_held(tmp_path):
    waiting, holder = ranks_of(2, "MPI_Win_unlock")
    hold(holder, 20_000, 30_000, 1, EXCLUSIVE)
    wait_for_lock(waiting, 1_000, 31_000, EXCLUSIVE)
    assert avoidable(run_of(tmp_path, waiting, holder)) == {"Late Unlock": 9_990}


# Fences


@pytest.mark.parametrize(("last", "late"), [(0, None), (1, 1), (2, 2)])
def test_the_last_operation_ends_a_fence(tmp_path, last, late):
    """All enter by 300; the operations of the ranks end one after the other, ours too."""
    ranks = ranks_of(3)
    for each in ranks:
        each.epoch({"opened": 0, "closed": 100 * (1 + each.rank)}, "fence", 1)
        if each.rank == 0:
            each.add(400, "wait_begun", "fence", number=1, id=1)
        each.add(70_000 if each.rank == last else 50_000, "told", "fence", number=1, rank=1)
        each.epoch({"completed": 80_000}, "fence", 1)
        if each.rank == 0:
            each.add(80_100, "wait_ended", "fence", number=1)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Early Fence", late, 80_100)]
    ending = next(wait_states(run)).ended_by
    assert (ending and ending[1].time - BEGUN) == (70_000 if late else None)


def test_operations_that_end_before_all_have_come_are_not_late(tmp_path):
    """Nor do those count that end another fence, or this one behind the wait."""
    waiting, other = ranks_of(2)
    waiting.epoch({"opened": 0, "closed": 100}, "fence", 1)
    waiting.add(200, "wait_begun", "fence", number=1, id=1)
    waiting.epoch({"completed": 60_000}, "fence", 1)
    waiting.add(60_100, "wait_ended", "fence", number=1)
    other.epoch({"opened": 0, "told": 20_000, "closed": 30_000}, "fence", 1, rank=0)
    other.add(50_000, "told", "fence", number=2, rank=0)
    other.add(70_000, "told", "fence", number=1, rank=0)
    run = run_of(tmp_path, waiting, other)
    assert found(run) == [("Wait at Fence", 1, 30_000), ("Transfer", None, 60_100)]


# Targets that compute


def flush(begun: int, ended: int, target: int = 1) -> list[RecordWriter]:
    """The first of three ranks waits for operations at another one."""
    ranks = ranks_of(3, "MPI_Win_flush")
    ranks[0].add(begun, "wait_begun", "flush", number=1, rank=target, id=1)
    ranks[0].add(ended, "wait_ended", "flush", number=1, rank=target)
    return ranks


@pytest.mark.parametrize("where", ["call", "agent"])
def test_a_target_that_computes_is_late_until_it_serves(tmp_path, where):
    """What it served before is not waited for, nor what it serves for others or afterwards."""
    ranks = flush(1_000, 50_000)
    _, target, other = ranks
    target.add(900, "served", where, rank=0)
    target.add(20_000, "served", where, rank=2)
    target.add(40_000, "served", where, rank=0)
    target.add(45_000, "served", where, rank=0)
    other.add(48_000, "served", where, rank=0)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Wait for Progress", 1, 40_000), ("Transfer", None, 50_000)]
    _, step = next(wait_states(run)).ended_by
    assert step.time == BEGUN + 40_000
    assert avoidable(run) == {"Wait for Progress": 39_000}
    assert "ORIEL_AGENT_INTERVAL" in report_of(run)[1]


def test_service_on_another_window_ends_nothing(tmp_path):
    ranks = flush(1_000, 50_000)
    for each in ranks:
        each.window(2, "other", "0-2", each.rank, first=2)
    ranks[1].add(20_000, "served", "call", rank=0, window=2)
    ranks[1].add(40_000, "served", "call", rank=0)
    assert found(run_of(tmp_path, *ranks))[0] == ("Wait for Progress", 1, 40_000)


def test_the_last_of_several_targets_ends_the_wait(tmp_path):
    ranks = flush(1_000, 50_000, target=-1)
    for target, time in ((1, 40_000), (2, 30_000)):
        ranks[target].add(time, "served", "call", rank=0)
    assert found(run_of(tmp_path, *ranks))[0] == ("Wait for Progress", 1, 40_000)


def test_a_target_that_waits_is_not_late(tmp_path):
    """It computes until it begins to wait, and takes messages then; or it waits all the time."""
    ranks = flush(1_000, 50_000, target=-1)
    for target, begun in ((1, 30_000), (2, 500)):
        ranks[target].add(100, "wait_begun", "exposure", number=1)
        ranks[target].add(200, "wait_ended", "exposure", number=1)
        ranks[target].add(begun, "wait_begun", "exposure", number=2)
        ranks[target].add(40_000 + target, "served", "wait", rank=0)
        ranks[target].add(60_000, "wait_ended", "exposure", number=2)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Wait for Progress", 1, 30_000), ("Transfer", None, 50_000)]
    (late,) = (state for state in wait_states(run) if state.late == 1)
    _, step = late.ended_by
    assert (step.kind, step.time) == ("wait_begun", BEGUN + 30_000)


def test_a_target_that_has_posted_serves_nobody_while_it_computes(tmp_path):
    """It has told long before that it has posted."""
    waiting, target = ranks_of(2, "MPI_Win_complete")
    waiting.epoch({"opened": 0, "granted": 20, "closed": 40}, "access", 3, rank=1)
    waiting.add(100, "wait_begun", "complete", number=1, id=1)
    waiting.add(9_000, "wait_ended", "complete", number=1)
    target.add(8_000, "served", "call", rank=0)
    assert found(run_of(tmp_path, waiting, target)) == [
        ("Wait for Progress", 1, 8_000),
        ("Transfer", None, 9_000),
    ]


@pytest.mark.parametrize(
    ("last", "expected"),
    [(0, [("Wait for Progress", 1, 60_000)]), (1, [("Early Fence", 1, 80_100)])],
)
def test_a_fence_waits_for_targets_of_its_own_operations(tmp_path, last, expected):
    """All have entered it, the other rank by a nonblocking call. If that rank's operations are the
    last, it waits for these."""
    ranks = ranks_of(2)
    for each in ranks:
        each.epoch({"opened": 0, "closed": 100 + each.rank}, "fence", 1)
    ranks[0].add(400, "wait_begun", "fence", number=1, id=1)
    ranks[1].add(60_000, "served", "call", rank=0)
    for each in ranks:
        each.add(70_000 if each.rank == last else 50_000, "told", "fence", number=1, rank=1)
        each.epoch({"completed": 80_000}, "fence", 1)
    ranks[0].add(80_100, "wait_ended", "fence", number=1)
    rest = [] if last else [("Early Fence", None, 80_100)]
    assert found(run_of(tmp_path, *ranks)) == expected + rest


def test_a_fence_waits_for_ranks_by_way_of_others(tmp_path):
    """One computes, for whose step another one waits, for which this one waits."""
    ranks = ranks_of(3)
    for each in ranks:
        each.epoch({"opened": 0, "closed": 100 + each.rank}, "fence", 1)
    for each, begun in zip(ranks, (400, 500)):
        each.add(begun, "wait_begun", "fence", number=1, id=1)
    ranks[2].add(60_000, "served", "call", rank=1)
    ranks[1].add(60_050, "served", "wait", rank=2)
    for each in ranks[:2]:
        each.epoch({"completed": 80_000}, "fence", 1)
        each.add(80_100, "wait_ended", "fence", number=1)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Wait for Progress", 2, 60_000), ("Transfer", None, 80_100)]
    _, step = next(wait_states(run)).ended_by
    assert step.time == BEGUN + 60_000


def test_a_target_that_computes_grants_no_lock(tmp_path):
    """Its holder is late first: then nobody at the target takes the request."""
    waiting, target, holder = ranks_of(3, "MPI_Win_unlock")
    hold(holder, 0, 20_000, 1, EXCLUSIVE)
    target.add(45_000, "served", "call", rank=0)
    wait_for_lock(waiting, 1_000, 51_000, EXCLUSIVE)
    assert found(run_of(tmp_path, waiting, target, holder)) == [
        ("Late Unlock", 2, 20_000),
        ("Lock Contention", 2, 20_500),
        ("Wait for Progress", 1, 45_000),
        ("Lock Contention", None, 51_000),
        ("Transfer", None, 51_300),
    ]


def test_a_request_waits_until_its_own_target_serves(tmp_path):
    """MPI_Rget; another lock is granted meanwhile. What comes behind the answer is for others."""
    waiting, target, other = ranks_of(3, "MPI_Wait")
    hold(target, 0, 20_000, 1, EXCLUSIVE)
    waiting.add(1_000, "wait_begun", "request", number=1, window=0, id=1)
    waiting.epoch({"granted": 25_000}, "lock_all", 1, rank=1)
    waiting.add(41_000, "answered", "get", rank=2)
    waiting.add(50_000, "wait_ended", "request", number=1, window=0)
    target.add(24_000, "served", "call", rank=0)
    other.add(40_000, "served", "call", rank=0)
    other.add(45_000, "served", "call", rank=0)
    assert found(run_of(tmp_path, waiting, target, other)) == [
        ("Wait for Progress", 2, 40_000),
        ("Transfer", None, 41_000),
        ("Wait for Request", None, 50_000),
    ]


def test_a_full_queue_is_waited_for_until_it_has_space(tmp_path):
    ranks = ranks_of(3, "MPI_Win_flush")
    waiting = ranks[0]
    waiting.add(500, "queue_full", "", rank=1)
    waiting.add(1_000, "wait_begun", "flush", number=1, rank=1, id=1)
    for time, kind, rank in (
        (20_000, "queue_freed", 1),
        (20_100, "queue_full", 1),
        (40_000, "queue_freed", 1),
        (45_000, "queue_freed", 2),
    ):
        waiting.add(time, kind, "", rank=rank)
    waiting.add(50_000, "wait_ended", "flush", number=1, rank=1)
    run = run_of(tmp_path, *ranks)
    assert found(run) == [("Wait for Queue Space", 1, 40_000), ("Transfer", None, 50_000)]
    assert avoidable(run) == {"Wait for Queue Space": 39_000}


# Persistent collectives


def use(rank: RecordWriter, number: int, begun: int, over: int) -> None:
    rank.add(begun, "use_begun", "", number=7, id=number)
    rank.add(over, "use_over", "", number=7, id=number)


def uses(folder: Path, *second: int, window: int = 1) -> Run:
    """All start a collective at the same time; the second time the first rank begins to wait at
    10,000, and the others start at these times."""
    ranks = ranks_of(1 + len(second), "MPI_Wait")
    for each, begun in zip(ranks, (9_000, *second)):
        use(each, 1, 1_000, 2_000)
        each.add(begun, "use_begun", "", number=7, id=2)
    ranks[0].add(10_000, "wait_begun", "request", number=1, window=window, id=1)
    ranks[0].add(60_000, "use_over", "", number=7, id=2)
    ranks[0].add(60_100, "wait_ended", "request", number=1, window=window)
    use(ranks[0], 3, 80_000, 90_000)
    return run_of(folder, *ranks)


@pytest.mark.parametrize("window", [1, 0])  # MPI_Waitall names none
def test_a_collective_waits_for_the_rank_that_starts_last(tmp_path, window):
    """One starts when it is over for this rank: it was not waited for."""
    run = uses(tmp_path, 30_000, 50_000, 70_000, window=window)
    assert found(run) == [
        ("Late Collective Start", 2, 50_000),
        ("Transfer", None, 60_000),
        ("Wait for Request", None, 60_100),
    ]
    # Since its last use was over, and since the wait began.
    assert avoidable(run) == {"Late Collective Start": 40_000}
    _, step = next(wait_states(run)).ended_by
    assert step.time == BEGUN + 50_000


def test_the_use_of_another_collective_is_another(tmp_path):
    """The late rank starts collective 7 at 50,000 and collective 8 at 55,000; both twice."""
    waiting, late = ranks_of(2, "MPI_Wait")
    waiting.add(9_000, "use_begun", "", number=7, id=2)
    waiting.add(10_000, "wait_begun", "request", number=1, id=1)
    for number, begun in ((7, 50_000), (8, 55_000)):
        late.add(begun, "use_begun", "", number=number, id=2)
    waiting.add(60_000, "use_over", "", number=7, id=2)
    waiting.add(60_100, "wait_ended", "request", number=1)
    run = run_of(tmp_path, waiting, late)
    assert found(run)[0] == ("Late Collective Start", 1, 50_000)


def test_the_work_behind_a_collective_could_come_before_its_wait(tmp_path):
    report, text = report_of(uses(tmp_path, 30_000))
    (row,) = (row for row in report.rows if row.pattern == "Late Collective Start")
    assert row.hidden * 1e9 == pytest.approx(19_900)  # until the next start
    assert "Do between MPI_Start and MPI_Wait what comes next" in text
    assert row.remedy is None  # MPI_Start does not return sooner than it does


def test_a_collective_that_all_have_started_is_a_transfer(tmp_path):
    assert found(uses(tmp_path, 5_000))[0] == ("Transfer", None, 60_000)


# Operations of the late rank


def test_operations_of_a_timeline_tell_what_a_late_rank_can_spare(tmp_path):
    """Its last operation is called behind its last step. One on another window does not count, nor
    what the rank does for others."""
    waiting, late = both_epochs("complete", "MPI_Win_complete")
    waiting.add(9_000, "wait_ended", "complete", number=1)
    late.window(2, "other", "0-1", 1, first=2)
    late.add(1_000, "opened", "lock", number=1, rank=0)
    late.add(3_000, "operation_issued", "put", rank=0)
    late.add(4_000, "operation_issued", "put", window=2, rank=0)
    late.add(4_100, "served", "call", rank=0)
    late.epoch({"opened": 4_500}, "exposure", 1, rank=0)
    run = run_of(tmp_path, waiting, late)
    assert avoidable(run) == {"Late Post": 1_500}
    assert (
        "Rank 1: post earlier; MPI_Win_post does not wait. At most 31 % of the wait would have "
        "been spared: the time since the rank's last call on the window." in report_of(run)[1]
    )


# Epochs that moved nothing


def empty(run: Run) -> list[tuple]:
    """(call, how many moved nothing, of how many, of fences those between two such, seconds)."""
    report, _ = report_of(run)
    return sorted(
        (row.call, row.empty, row.ended, row.doubled, pytest.approx(row.seconds, abs=1e-9))
        for row in report.empty_epochs
    )


def fences(*used: tuple[int, ...]) -> list[RecordWriter]:
    """Each fence ends an epoch in which the ranks named have operations. The first rank waits
    1,000 in each, and makes another call for the window's end."""
    ranks = ranks_of(2)
    for each in ranks:
        each.add(0, "opened", "fence", number=0)  # the first call ends an epoch of no call
        each.epoch({"closed": 10, "completed": 15, "opened": 20}, "fence", 1)
        for number, by in enumerate(used, start=2):
            begun = 10_000 * number
            each.add(begun, "renewing", "fence", number=number, flags=each.rank in by)
            if each.rank == 0:
                each.add(begun + 100, "wait_begun", "fence", number=number, id=1)
            each.add(begun + 900, "renewed", "fence", number=number)
            if each.rank == 0:
                each.add(begun + 1_100, "wait_ended", "fence", number=number)
        begun, number = begun + 10_000, number + 1
        each.add(begun, "closed", "fence", number=number)
        each.add(begun + 10, "wait_begun", "window", number=number)
        each.add(begun + 20, "completed", "fence", number=number)
        each.add(begun + 30, "wait_ended", "window", number=number)
    return ranks


def test_a_fence_epoch_is_empty_if_no_rank_moved_anything(tmp_path):
    run = run_of(tmp_path, *fences((0,), (), (), (1,), (), (0, 1)))
    assert empty(run) == [("MPI_Win_fence", 3, 6, 1, 3e-6)]
    assert (
        'MPI_Win_fence, main at program+0x10, window "window": 3 of 6 epochs moved nothing; the '
        "ranks waited 0.000 s in the calls that ended these." in report_of(run)[1]
    )
    assert "Fences between two such epochs: 1. " in report_of(run)[1]


def test_fences_of_a_rank_without_a_record_are_not_judged(tmp_path):
    first, _ = fences((), ())
    assert empty(run_of(tmp_path, first)) == []


def test_a_fence_that_ends_no_epoch_is_none(tmp_path):
    """By MPI_MODE_NOPRECEDE the second leaves the first one's epoch as it is."""
    ranks = ranks_of(2)
    for each in ranks:
        each.epoch({"opened": 0, "closed": 10_000, "completed": 10_010}, "fence", 1)
        each.add(10_020, "opened", "fence", number=2)
        each.epoch({"closed": 20_000, "completed": 20_010}, "fence", 3)
    assert empty(run_of(tmp_path, *ranks)) == [("MPI_Win_fence", 1, 1, 0, 0)]


def access(rank: RecordWriter, begun: int, number: int, used: dict[int, int]) -> None:
    """`used`: flags by target."""
    flags = max(used.values())
    rank.add(begun, "opened", "access", number=number)
    rank.add(begun + 10, "closed", "access", number=number, flags=flags)
    rank.add(begun + 20, "wait_begun", "complete", number=number, id=1)
    for target, its in used.items():
        rank.add(begun + 500, "told", "access", number=number, rank=target, flags=its)
    rank.add(begun + 510, "completed", "access", number=number)
    rank.add(begun + 1_020, "wait_ended", "complete", number=number)


def exposure(rank: RecordWriter, begun: int, number: int, *origins: int) -> None:
    rank.epoch({"opened": begun, "closed": begun + 10}, "exposure", number)
    rank.add(begun + 20, "wait_begun", "exposure", number=number, id=2)
    for origin in origins:
        rank.add(begun + 600, "told", "exposure", number=number, rank=origin)
    rank.add(begun + 610, "completed", "exposure", number=number)
    rank.add(begun + 2_020, "wait_ended", "exposure", number=number)


def exposed(folder: Path, *used: tuple[int, int]) -> list[tuple]:
    """Epochs of an origin to two targets, with the flags of its operations to each. The first of
    these has another exposure to the second target between any two."""
    ranks = ranks_of(3, "MPI_Win_complete")
    for each in ranks:
        each.site(2, "MPI_Win_wait", "main")
    for turn, (one, two) in enumerate(used):
        access(ranks[0], 10_000 * turn, turn, {1: one, 2: two})
        exposure(ranks[1], 10_000 * turn, 2 * turn, 0)
        exposure(ranks[1], 10_000 * turn + 5_000, 2 * turn + 1, 2)
        access(ranks[2], 10_000 * turn + 5_000, turn, {1: 1})
        exposure(ranks[2], 10_000 * turn, turn + 100, 0)
    return empty(run_of(folder, *ranks))


def test_a_target_learns_from_the_origins_whether_they_moved_anything(tmp_path):
    """Nothing to the first target in the second epoch, nor to either in the third."""
    assert exposed(tmp_path, (1, 1), (0, 1), (0, 0), (1, 0)) == [
        ("MPI_Win_complete", 1, 8, 0, 1e-6),
        ("MPI_Win_wait", 4, 12, 0, 8e-6),
    ]


@pytest.mark.parametrize("begun", [0, 200])
@pytest.mark.parametrize("used", [(1, 0), (0, 1)])
def test_an_exposure_is_used_by_any_of_its_origins(tmp_path, used, begun):
    """Also where the target's clock comes first."""
    ranks = ranks_of(3, "MPI_Win_complete")
    exposure(ranks[0], 0, 1, 1, 2)
    for origin, flags in zip(ranks[1:], used):
        access(origin, begun, 1, {0: flags})
    assert [row[0] for row in empty(run_of(tmp_path, *ranks))] == ["MPI_Win_complete"]


def test_an_end_that_did_not_wait_cost_nothing(tmp_path):
    rank, other = ranks_of(2, "MPI_Win_complete")
    access(rank, 0, 1, {1: 1})
    rank.epoch({"opened": 10_000, "closed": 10_010, "told": 10_020}, "access", 3, rank=1)
    rank.epoch({"completed": 10_030}, "access", 3, rank=1)
    assert empty(run_of(tmp_path, rank, other)) == [("MPI_Win_complete", 1, 2, 0, 0)]


def test_an_exposure_to_a_rank_without_a_record_is_not_judged(tmp_path):
    target, one, _ = ranks_of(3, "MPI_Win_wait")
    target.site(2, "MPI_Win_wait", "main")
    access(one, 0, 1, {0: 0})
    access(one, 10_000, 3, {0: 0})
    exposure(target, 0, 1, 1, 2)
    exposure(target, 10_000, 3, 1)
    assert empty(run_of(tmp_path, target, one)) == [
        ("MPI_Win_complete", 2, 2, 0, 2e-6),
        ("MPI_Win_wait", 1, 1, 0, 2e-6),
    ]


def test_ranks_in_step_wait_for_nobody(tmp_path):
    """Four put to one another between fences, which they enter within 200 nanoseconds."""
    ranks = ranks_of(4)
    for each in ranks:
        each.epoch({"opened": 0}, "fence", 0)
        for number in range(1, 101):
            begun = 100_000 * number
            entered = begun + (each.rank * 70 + number * 30) % 200
            each.epoch({"renewing": entered}, "fence", number, flags=1)
            each.add(entered + 10, "wait_begun", "fence", number=number, id=1)
            each.epoch({"renewed": begun + 500}, "fence", number)
            each.add(begun + 600, "wait_ended", "fence", number=number)
    run = run_of(tmp_path, *ranks)
    report, _ = report_of(run)
    assert sum(row.count for row in report.rows if row.late) > 200  # there are such waits
    assert "No wait took 1 % of the run." in table(report)
