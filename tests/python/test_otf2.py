# SPDX-License-Identifier: BSD-3-Clause
"""The archive of `oriel report --otf2`, as the format's own reader finds it."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import pytest
from oriel.cli.commands import main as command
from oriel.cli.report import report_on
from oriel.wait_states.record import EXCLUSIVE
from support.records import BEGUN, LATE, RecordWriter, write_late_posts

otf2 = pytest.importorskip("otf2")
_otf2 = pytest.importorskip("_otf2")
events = otf2.events


def events_of(folder: Path, *ranks: RecordWriter) -> dict[str, list]:
    """The events of each location, by its name."""
    for each in ranks:
        each.write(folder)
    report_on(folder, otf2=True)
    found: dict[str, list] = {}
    with otf2.reader.open(str(folder / "otf2" / "traces.otf2")) as trace:
        assert trace.definitions.clock_properties.timer_resolution == 10**9
        found.update((location.name, []) for location in trace.definitions.locations)
        for location, event in trace.events:
            found[location.name].append(event)
    for its in found.values():
        assert [event.time for event in its] == sorted(event.time for event in its)
    return found


def names(its: list) -> list[tuple[str, int]]:
    """What each event is, and when."""
    return [(type(event).__name__, event.time) for event in its]


def two_ranks() -> tuple[RecordWriter, RecordWriter]:
    ranks = RecordWriter(0, 2), RecordWriter(1, 2)
    for each in ranks:
        each.window(1, "window", "0-1", each.rank)
        each.site(1, "MPI_Win_fence", "main")
    return ranks


def test_posts_and_completes(tmp_path):
    write_late_posts(tmp_path, 2, 3)
    found = events_of(tmp_path)
    assert list(found) == [f"rank {rank}" for rank in range(4)]
    for pair in (0, 2):
        origin, target = found[f"rank {pair}"], found[f"rank {pair + 1}"]
        assert [name for name, _ in names(origin)] == 3 * [
            "RmaGroupSync", "Enter", "RmaGroupSync", "Leave"
        ]  # fmt: skip
        waits = [event for event in origin if isinstance(event, (events.Enter, events.Leave))]
        lasted = [leave.time - enter.time for enter, leave in zip(waits[::2], waits[1::2])]
        assert lasted == 3 * [LATE + 10_000]
        assert {event.region.name for event in waits} == {"MPI_Win_complete"}
        assert {event.region.description for event in waits} == {"exchange at program+0x10"}
        for its, peer in ((origin, pair + 1), (target, pair)):
            synced = [event for event in its if isinstance(event, events.RmaGroupSync)]
            assert [event.sync_level for event in synced] == 3 * [
                otf2.RmaSyncLevel.PROCESS, otf2.RmaSyncLevel.PROCESS | otf2.RmaSyncLevel.MEMORY
            ]  # fmt: skip
            for event in synced:
                assert [member.name for member in event.group.members] == [f"rank {peer}"]
                assert event.win.name == "halo"
                ranks = [member.name for member in event.win.comm.group.members]
                assert ranks == [f"rank {pair}", f"rank {pair + 1}"]
    again = events_of(tmp_path)  # in the place of the first
    assert [names(its) for its in again.values()] == [names(its) for its in found.values()]


def test_locks(tmp_path):
    """One of a target, and one of all, by which the holder uses both ranks."""
    waiting, holder = two_ranks()
    waiting.epoch({"opened": 0}, "lock", 1, rank=1, flags=EXCLUSIVE)
    waiting.epoch({"granted": 500, "told": 600, "completed": 700}, "lock", 1, rank=1)
    holder.epoch({"opened": 100}, "lock_all", 1)
    for target in (0, 1):
        holder.epoch({"granted": 200 + target}, "lock_all", 1, rank=target)
    holder.epoch({"closed": 300}, "lock_all", 1)
    for target in (0, 1):
        holder.epoch({"told": 400 + target}, "lock_all", 1, rank=target)
    holder.epoch({"completed": 450}, "lock_all", 1)
    found = events_of(tmp_path, waiting, holder)
    assert names(found["rank 0"]) == [
        ("RmaRequestLock", 0), ("RmaAcquireLock", 500), ("RmaReleaseLock", 600)
    ]  # fmt: skip
    assert {event.remote for event in found["rank 0"]} == {1}
    assert {event.lock_type for event in found["rank 0"][:2]} == {otf2.LockType.EXCLUSIVE}
    for target in (0, 1):
        assert names([event for event in found["rank 1"] if event.remote == target]) == [
            ("RmaRequestLock", 100), ("RmaAcquireLock", 200 + target),
            ("RmaReleaseLock", 400 + target),
        ]  # fmt: skip
    assert found["rank 1"][0].lock_type == otf2.LockType.SHARED


def test_fences_that_overlap_are_told_one_within_the_other(tmp_path):
    """A collective's begin does not say of which window it is. The first fence is entered before
    the two others, and ends between them."""
    rank, other = two_ranks()
    fences = {1: (100, 400), 2: (200, 300), 3: (350, 500)}
    for window in (2, 3):
        rank.window(window, f"window {window}", "0-1", 0, first=window)
    steps = [(0, "opened", window) for window in fences]
    steps += [(entered, "closed", window) for window, (entered, _) in fences.items()]
    steps += [(ended, "completed", window) for window, (_, ended) in fences.items()]
    for time, kind, window in sorted(steps):
        rank.add(time, kind, "fence", number=1, window=window)
    rank.epoch({"opened": 600}, "fence", 2)  # never entered again
    its = events_of(tmp_path, rank, other)["rank 0"]
    begin, end = "RmaCollectiveBegin", "RmaCollectiveEnd"
    told = [(begin, 100), (begin, 300), (end, 300), (end, 400), (begin, 500), (end, 500)]
    assert names(its) == told
    ends = [event for event in its if type(event).__name__ == end]
    assert [event.win.name for event in ends] == ["window 2", "window", "window 3"]
    assert {event.collective_op for event in ends} == {otf2.CollectiveOp.BARRIER}


def test_operations(tmp_path):
    """The first is done in its call; the last two do not tell their begin in order."""
    rank, other = two_ranks()
    for time, what, id, kind in (
        (100, "issued", 1, "put"), (200, "issued", 2, "get"), (250, "issued", 3, "get_accumulate"),
        (240, "issued", 4, "compare_and_swap"), (900, "done", 2, "get"),
    ):  # fmt: skip
        rank.add(time, f"operation_{what}", kind, number=8, rank=1, id=id)
    rank.add(500, "wait_begun", "flush", number=1, rank=1)
    rank.add(950, "wait_ended", "flush", number=1, rank=1)
    rank.window(2, "elsewhere", "", 0)
    rank.add(960, "operation_issued", "put", number=8, rank=1, id=5, window=2)
    its = events_of(tmp_path, rank, other)["rank 0"]
    assert names(its) == [
        ("RmaPut", 100), ("RmaOpCompleteBlocking", 100), ("RmaGet", 200),
        ("RmaAtomic", 250), ("RmaOpCompleteBlocking", 250),
        ("RmaAtomic", 250), ("RmaOpCompleteBlocking", 250),
        ("Enter", 500), ("RmaOpCompleteNonBlocking", 900), ("Leave", 950),
    ]  # fmt: skip
    operations = [event for event in its if hasattr(event, "matching_id")]
    assert [event.matching_id for event in operations] == [1, 1, 2, 3, 3, 4, 4, 2]
    assert {event.remote for event in operations if hasattr(event, "remote")} == {1}
    assert its[0].bytes == its[2].bytes == 8
    fetched, swapped = (event for event in its if isinstance(event, events.RmaAtomic))
    assert fetched.type == otf2.RmaAtomicType.FETCH_AND_ACCUMULATE
    assert (fetched.bytes_sent, fetched.bytes_received) == (8, 8)
    assert swapped.type == otf2.RmaAtomicType.COMPARE_AND_SWAP
    assert (swapped.bytes_sent, swapped.bytes_received) == (16, 8)


def test_notifications(tmp_path):
    origin, target = two_ranks()
    origin.add(100, "operation_issued", "put", number=8, rank=1, id=1)
    origin.add(100, "notification_sent", "tag", number=8, rank=1, id=70)
    target.add(300, "notification_matched", "tag", number=8, rank=0, id=70)
    found = events_of(tmp_path, origin, target)
    assert names(found["rank 0"]) == [
        ("RmaPut", 100), ("RmaOpCompleteBlocking", 100), ("RmaSync", 100)
    ]  # fmt: skip
    sent, (taken,) = found["rank 0"][2], found["rank 1"]
    assert (sent.remote, sent.sync_type) == (1, otf2.RmaSyncType.NOTIFY_OUT)
    assert (taken.time, taken.remote, taken.sync_type) == (300, 0, otf2.RmaSyncType.NOTIFY_IN)


def test_waits_of_two_threads_are_at_two_locations(tmp_path):
    rank, other = two_ranks()
    for time, what, number in (
        (100, "begun", 1), (200, "begun", 2), (300, "ended", 1),
        (300, "begun", 3), (400, "ended", 2), (500, "ended", 3),
    ):  # fmt: skip
        rank.add(time, f"wait_{what}", "flush", number=number, rank=1)
    found = events_of(tmp_path, rank, other)
    assert names(found["rank 0"]) == [
        ("Enter", 100), ("Leave", 300), ("Enter", 300), ("Leave", 500)
    ]  # fmt: skip
    assert names(found["rank 0, thread 2"]) == [("Enter", 200), ("Leave", 400)]
    assert found["rank 0"][0].region.name == "flush"  # of no call that is known


def test_processes_of_which_little_is_known(tmp_path):
    """A rank without a record, one with two, and a process without MPI_COMM_WORLD."""
    first, _ = two_ranks()
    second = RecordWriter(0, 2, engine=2, begun=BEGUN + 1_000_000)
    alone = RecordWriter(-1, -1, pid=77)
    second.window(1, "later", "0-1", 0)
    alone.window(1, "alone", "", 0)
    for each in (first, second, alone):
        each.epoch({"opened": 0}, "access", 1, rank=1)
        each.add(50, "wait_begun", "complete", number=1)
        each.epoch({"granted": 100, "completed": 200}, "access", 1, rank=1)
        each.add(300, "wait_ended", "complete", number=1)
    found = events_of(tmp_path, first, second, alone)
    assert list(found) == ["rank 0", "rank 1", "process 77"] and not found["rank 1"]
    windows = defaultdict(list)
    for event in found["rank 0"]:
        if isinstance(event, events.RmaGroupSync):
            windows[event.win.name].append(event.time)
    assert windows == {"window": [0, 200], "later": [1_000_000, 1_000_200]}
    assert names(found["process 77"]) == [("Enter", 50), ("Leave", 300)]


def test_a_missing_package_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "otf2", None)
    monkeypatch.delitem(sys.modules, "oriel.wait_states.otf2_archive", raising=False)
    assert command(["report", "--otf2", str(tmp_path)]) == 1
    assert "The Python package otf2, which this needs, is not installed" in capsys.readouterr().err


def test_an_archive_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    def fail(*_, **__):
        raise _otf2.Error(_otf2.ERROR_ENOSPC)

    write_late_posts(tmp_path, 1, 1)
    monkeypatch.setattr(otf2.writer, "open", fail)
    assert command(["report", "--otf2", str(tmp_path)]) == 1
    assert f"{tmp_path / 'otf2'} cannot be written: ENOSPC" in capsys.readouterr().err
