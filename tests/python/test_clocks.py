# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on machines with other clocks: late ranks and times are found as by one clock (B1)."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

import pytest
from oriel.cli.report import report_on
from oriel.wait_states import sync_points
from oriel.wait_states.aligned_records import machines_of, most_error
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.operations import first_operations
from oriel.wait_states.record import KINDS, read_records
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.report_text import notes
from oriel.wait_states.run_report import make_report
from support.clock_change import change_clock
from support.records import BEGUN, TURN, RecordWriter, write_late_posts

SHIFT = -3_700_000_000_000


def far(time: int) -> int:
    """A clock that was started earlier, and is 40 ppm faster."""
    return time + SHIFT + (time - BEGUN) * 40 // 10**6


def near(time: int) -> int:
    return far(time) - SHIFT - (time - BEGUN) * 60 // 10**6


def states_of(run: Run) -> list[tuple]:
    """Rank, wait state, late rank, end. Without transfers, which are shorter than the error."""
    return sorted(
        (
            (state.history.rank, state.pattern, state.late, state.ended)
            for state in wait_states(run)
            if state.pattern != "Transfer"
        ),
        key=lambda state: (state[0], state[3]),
    )


def check_the_same(folder: Path, *changed: tuple[str, bytes, object]) -> Run:
    """The wait states of the records, after the clocks of some have been changed, are those from
    before: the order, the late ranks, and the times to within the error."""
    before = states_of(Run(*read_records(folder)))
    for name, boot, clock in changed:
        change_clock(folder / f"{name}.record", boot, clock)
    run = Run(*read_records(folder))
    error = max(machine.error for machine in run.machines)
    assert 0 < error < 10_000
    after = states_of(run)
    assert [state[:3] for state in after] == [state[:3] for state in before]
    for (*_, one), (*_, other) in zip(before, after):
        assert abs(one - other) <= error + 1
    return run


def test_late_posts_of_another_machine(tmp_path):
    """With the step of the late rank, to which an arrow leads."""
    write_late_posts(tmp_path, 2, 50)
    run = check_the_same(tmp_path, ("rank-1", b"far", far), ("rank-3", b"far", far))
    here, there = run.machines
    assert here.clock is None and there.timed_by == here.boot == "boot"
    late = [state for state in wait_states(run) if state.pattern == "Late Post"]
    assert len(late) == 100
    for state in late:
        peer, step = state.ended_by
        assert (peer.rank, step.detail) == (state.late, "exposure")
        assert 200 - there.error <= state.ended - step.time <= 300 + there.error


def write_fences(folder: Path, ranks: int, turns: int, seed: int = 1, ended: bool = True) -> None:
    """A window is made; in each turn some rank enters the fence last, by up to a millisecond. Each
    learns that within 2 microseconds."""
    choose = random.Random(seed)
    records = [RecordWriter(rank, ranks) for rank in range(ranks)]
    for each in records:
        each.window(1, "window", f"0-{ranks - 1}", each.rank)
        each.site(1, "MPI_Win_fence", "main")
        each.site(2, "MPI_Win_create", "main")
    begun = 1_000
    for turn in range(turns + 1):
        entries = [begun + choose.randrange(1_000_000) for _ in records]
        for each, entered in zip(records, entries):
            over = max(entries) + choose.randrange(2_000)
            if turn == 0:
                each.add(entered, "wait_begun", "window", number=1, id=2)
                each.add(over, "wait_ended", "window", number=1)
                each.epoch({"opened": over, "activated": over}, "fence", 0)
                continue
            each.add(entered, "renewing", "fence", number=turn)
            each.add(entered, "wait_begun", "fence", number=turn + 1, id=1)
            each.add(over, "renewed", "fence", number=turn)
            each.add(over, "wait_ended", "fence", number=turn + 1)
        begun += 1_100_000
    for each in records:
        each.write(folder, ended)


def test_late_entries_to_fences(tmp_path):
    write_fences(tmp_path, 4, 100)
    run = check_the_same(tmp_path, ("rank-2", b"far", far), ("rank-3", b"near", near))
    assert [machine.timed_by for machine in run.machines] == ["boot"] * 3
    assert run.machines[1].clock.rate == pytest.approx(-40e-6, abs=1e-6)
    (note,) = notes(make_report(run))
    assert note.startswith("The clocks of 3 machines are aligned to within ")
    one, other = run.histories[2:]
    assert run.error(one, other) == math.ceil(most_error(run.machines))
    assert f"{most_error(run.machines) / 1e3:.3g} us. Ranks of another machine" in note
    assert most_error(run.machines) > max(machine.error for machine in run.machines)


def test_a_window_that_is_made_and_no_more(tmp_path):
    """One rank came up to a millisecond before the other one. Later, clocks may run apart."""
    write_fences(tmp_path, 2, 0)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    far_machine = machines_of(read_records(tmp_path)[0])[1]
    assert 1_000 < far_machine.error < 1_000_000
    assert abs(far_machine.map(far(BEGUN)) - BEGUN) <= far_machine.error


def copies(folder: Path, kinds: tuple[str, ...] = KINDS) -> list[RecordWriter]:
    """Records of write_fences, to which more can be added."""
    found = []
    for record in read_records(folder)[0]:
        each = RecordWriter(record.rank, record.ranks)
        each.window(1, "window", f"0-{record.ranks - 1}", record.rank)
        each.site(1, "MPI_Win_fence", "main")
        each.site(2, "MPI_Win_create", "main")
        for time, number, _, _, id, kind, detail, _ in record.entries(kinds):
            each.add(time - BEGUN, kind, detail, number=number, id=id)
        found.append(each)
    return found


@pytest.mark.parametrize("later", [50, 500_000])
def test_a_lateness_below_the_error_is_nobodys(tmp_path, later):
    """Rank 0 waits for rank 1, on its machine, and both wait for rank 2, on another one."""
    write_fences(tmp_path, 3, 1)
    ranks = copies(tmp_path)
    for each, entered in zip(ranks, (5_000_000, 5_010_000, 5_010_000 + later)):
        each.add(entered, "renewing", "fence", number=2)
        each.add(entered, "wait_begun", "fence", number=9, id=1)
        each.add(5_900_000, "renewed", "fence", number=2)
        each.add(5_900_000, "wait_ended", "fence", number=9)
        each.write(tmp_path)
    change_clock(tmp_path / "rank-2.record", b"far", far)
    run = Run(*read_records(tmp_path))
    assert 10_000 + 50 < run.machines[1].error < 500_000
    late = {
        (state.history.rank, state.late)
        for state in wait_states(run)
        if (state.wait.begun > BEGUN + 4_000_000 and state.pattern == "Wait at Fence")
    }
    if later == 50:
        # By the mapped clock rank 2 comes before rank 1, and waits for it.
        assert late == {(0, 1), (2, None)}
    else:
        assert late == {(0, 2), (1, 2)}


@pytest.mark.parametrize(("length", "late"), [(300_000, 1), (300, None)])
def test_a_start_or_progress_below_the_error_is_nobodys(tmp_path, length, late):
    """Rank 0 waits for rank 1 to start a persistent collective, and to serve a flush."""
    write_fences(tmp_path, 2, 1)
    ranks = copies(tmp_path)
    waiting, other = ranks
    begun = 5_000_000
    for each, entered in zip(ranks, (begun - 500, begun + length)):
        each.add(entered, "use_begun", "", number=3, id=1)
    waiting.add(begun, "wait_begun", "request", number=8, id=1)
    waiting.add(begun + length + 100, "use_over", "", number=3, id=1)
    waiting.add(begun + length + 200, "wait_ended", "request", number=8, id=1)
    begun += 1_000_000
    waiting.add(begun, "wait_begun", "flush", number=9, rank=1, id=1)
    other.add(begun + length, "served", "call", rank=0)
    waiting.add(begun + length + 100, "wait_ended", "flush", number=9, rank=1)
    for each in ranks:
        each.write(tmp_path)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    run = Run(*read_records(tmp_path))
    assert 300 < run.machines[1].error < 300_000
    late_of = {state.pattern: state.late for state in wait_states(run)}
    assert late_of["Late Collective Start"] == late
    assert late_of.get("Wait for Progress") == late


@pytest.mark.parametrize(("length", "late"), [(300_000, 1), (300, None)])
def test_a_holder_to_the_end_is_not_late_below_the_error(tmp_path, length, late):
    """Rank 0 waits to its end for a lock that rank 1, on another machine, holds."""
    write_fences(tmp_path, 2, 1)
    waiting, holder = copies(tmp_path)
    begun = 5_000_000
    holder.epoch({"opened": begun - 5_000, "granted": begun - 4_000}, "lock", 9, rank=1, flags=2)
    waiting.epoch({"opened": begun - 10}, "lock", 9, rank=1, flags=2)
    waiting.add(begun, "wait_begun", "lock", number=8, rank=1, id=1)
    for each in (waiting, holder):
        each.add(begun + length, "wait_begun", "notification", number=7)
        each.write(tmp_path, ended=False)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    run = Run(*read_records(tmp_path))
    assert 300 < run.machines[1].error < 300_000
    found = {state.wait.reason: (state.pattern, state.late) for state in wait_states(run)}
    assert found["lock"] == ("Late Unlock", late)


def test_an_epoch_that_no_fence_ends_tells_nothing(tmp_path):
    """Another kind of epoch follows, at any time: the epoch ends under the number of the call that
    has opened it."""
    write_fences(tmp_path, 2, 20)
    for retired in (False, True):
        ranks = copies(tmp_path, ("renewing", "renewed"))
        for each in ranks:
            if retired:
                begun = each.last + 10_000_000 * (1 + each.rank)
                each.epoch({"closed": begun, "completed": begun + 10}, "fence", 20)
                # A call that opens an epoch and ends none.
                each.epoch({"opened": begun + 20, "closed": begun + 30}, "fence", 21)
                each.epoch({"completed": begun + 40}, "fence", 21)
        folder = tmp_path / f"{retired}"
        folder.mkdir()
        for each in ranks:
            each.write(folder)
        change_clock(folder / "rank-1.record", b"far", far)
        machine = machines_of(read_records(folder)[0])[1]
        for time in (BEGUN, BEGUN + ranks[1].last):
            assert abs(machine.map(far(time)) - time) <= machine.error < 100_000


@pytest.mark.parametrize("most", [50, 1_000])
def test_of_a_long_run_some_points_are_enough(tmp_path, monkeypatch, most):
    """Of fences, and of accesses."""
    monkeypatch.setattr(sync_points, "_MOST_EVENTS", most)
    for name, write in (
        ("fences", lambda folder: write_fences(folder, 2, 1_000)),
        ("posts", lambda folder: write_late_posts(folder, 1, 1_000)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        write(folder)
        change_clock(folder / "rank-1.record", b"far", far)
        records, _ = read_records(folder)
        points = sync_points.points_by_machines(records)["far", "boot"]
        assert most / 20 < len(points) <= most / 4
        machine = machines_of(records)[1]
        for time in (BEGUN, BEGUN + 100_000_000):
            assert abs(machine.map(far(time)) - time) <= machine.error < 1_000_000


def test_the_error_of_a_run_that_was_killed_is_that_at_its_end(tmp_path):
    """Twelve seconds behind the last fence."""
    write_fences(tmp_path, 2, 50)
    ranks = copies(tmp_path)
    end = ranks[0].last + 12_000_000_000
    for each in ranks:
        each.add(end, "opened", "lock", number=1)
        each.write(tmp_path, ended=False)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    machine = machines_of(read_records(tmp_path)[0])[1]
    off = abs(machine.map(far(BEGUN + end)) - BEGUN - end)
    assert off <= machine.error and 10_000 < machine.error < 12_000_000_000 * 1_200 // 10**6


def test_notifications_compare_clocks(tmp_path):
    """Those of one tag are counted. Arrows lead from one machine to the other."""
    ranks = [RecordWriter(rank, 2) for rank in range(2)]
    for each in ranks:
        each.window(1, "window", "0-1", each.rank)
    for turn in range(30):
        for origin, target in (ranks, ranks[::-1]):
            time = 10_000 * turn + 5_000 * origin.rank
            for kind, detail in (("operation_issued", "put"), ("notification_sent", "tag")):
                id = turn + 1 if detail == "put" else 7
                origin.add(time, kind, detail, rank=target.rank, id=id)
            target.add(time + 1_000 + turn, "notification_matched", "tag", rank=origin.rank, id=7)
    for each in ranks:
        each.add(400_000, "opened", "lock", number=1)
        each.write(tmp_path)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    run = Run(*read_records(tmp_path))
    assert run.machines[1].error < 1_500
    operations = first_operations(run, 100)
    assert len(operations) == 60
    for operation in operations:
        assert operation.taking is not None and operation.target is not operation.origin
        late_by = operation.taking.time - operation.begun
        assert 0 < late_by < 1_100 + run.machines[1].error


def test_the_page_and_the_timelines_have_times_of_one_clock(tmp_path):
    write_late_posts(tmp_path, 1, 20)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    table = report_on(tmp_path, timeline=True)
    assert "The clocks of 2 machines are aligned to within" in table
    machines = json.loads((tmp_path / "report.json").read_text("utf-8"))["machines"]
    assert [each["clock"] for each in machines] == [0, 0]
    assert machines[1]["offset"] == pytest.approx(-SHIFT, abs=machines[1]["error"])
    assert machines[1]["error"] < 10_000
    page = (tmp_path / "index.html").read_text("utf-8")
    (span,) = re.findall(r'"span":(\d+)', page)
    assert int(span) == pytest.approx(20 * TURN, rel=0.05)
    timeline = json.loads((tmp_path / "timeline.json").read_text("utf-8"))
    assert timeline["otherData"]["clocks"] in table
    events = timeline["traceEvents"]
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = [event for event in events if event["ph"] == "f"]
    assert len(ends) == 20
    for end in ends:
        begin = begins[end["id"]]
        assert (begin["pid"], end["pid"]) == (1, 0)
        assert end["ts"] - begin["ts"] < 10  # microseconds


def test_a_rank_that_was_killed_has_a_clock(tmp_path):
    write_fences(tmp_path, 2, 20, ended=False)
    change_clock(tmp_path / "rank-1.record", b"far", far)
    run = Run(*read_records(tmp_path))
    assert run.machines[1].clock and run.histories[1].record.ended == 0
    assert run.histories[1].ended - BEGUN == pytest.approx(21 * 1_100_000, rel=0.1)


def test_a_machine_by_way_of_another(tmp_path):
    """Ranks 0 and 1, and ranks 1 and 2 have a window together, ranks 3 and 4 one of their own."""
    for ranks, window in ((range(2), "0-1"), (range(1, 3), "1-2"), (range(3, 5), "3-4")):
        folder = tmp_path / window
        folder.mkdir()
        write_fences(folder, 2, 50, seed=len(ranks))
    merged = tmp_path / "merged"
    merged.mkdir()
    records = [RecordWriter(rank, 5) for rank in range(5)]
    for number, (ranks, window) in enumerate(
        (((0, 1), "0-1"), ((1, 2), "1-2"), ((3, 4), "3-4")), 1
    ):
        for source, rank in enumerate(ranks):
            records[rank].window(number, window, window, source, first=number)
            (record,) = (r for r in read_records(tmp_path / window)[0] if r.rank == source)
            for entry in record.entries(("renewing", "renewed")):
                records[rank].add(
                    entry.time - BEGUN, entry.kind, "fence", number=entry.number, window=number
                )
    for each in records:
        each.write(merged)
    clocks = {1: near, 2: far, 3: far, 4: near}
    for rank, clock in clocks.items():
        change_clock(merged / f"rank-{rank}.record", f"boot {rank}".encode(), clock)
    run = Run(*read_records(merged))
    machines = {each.boot: each for each in run.machines}
    assert [each.timed_by for each in run.machines] == ["boot"] * 3 + ["boot 3"] * 2
    one, two = machines["boot 1"], machines["boot 2"]
    assert two.error == pytest.approx(one.error + two.clock.error)
    for time in (BEGUN, BEGUN + 50_000_000):
        assert abs(one.map(near(time)) - time) <= one.error
        assert abs(two.map(far(time)) - time) <= two.error
    ranks = run.histories
    assert run.error(ranks[1], ranks[2]) == pytest.approx(one.error + two.error, abs=1)
    assert run.error(ranks[1], ranks[1]) == 0
    assert (
        "Nothing compares the clocks of node+node+node, node+node: " in notes(make_report(run))[1]
    )
