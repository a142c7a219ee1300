# SPDX-License-Identifier: BSD-3-Clause
"""What a report holds in memory does not grow with the length of the run."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from random import Random

import pytest
from oriel.cli.report import report_on
from oriel.wait_states import empty_epochs, entry_blocks, recorded_run
from oriel.wait_states.entry_blocks import EntryBlocks
from oriel.wait_states.longest import Longest
from oriel.wait_states.record import _ENTRY, EXCLUSIVE, USED, read_records
from oriel.wait_states.recorded_run import Run
from support.records import BEGUN, RecordWriter

SHOWN = 100


def write_turns(folder: Path, turns: int) -> None:
    """In each turn a fence, a post and a lock for which the first rank waits; 30 events."""
    first, other = RecordWriter(0, 2), RecordWriter(1, 2)
    for each in (first, other):
        each.window(1, "window", "0-1", each.rank)
        for number, call in enumerate(("MPI_Win_fence", "MPI_Win_complete", "MPI_Win_lock"), 1):
            each.site(number, call, "main")
    for each in (first, other):
        each.epoch({"opened": 0, "activated": 0}, "fence", 0)
    for turn in range(turns):
        time, wait = 10_000 * (turn + 1), 3 * turn

        first.add(time, "renewing", "fence", number=turn + 1)
        first.add(time, "wait_begun", "fence", number=wait, id=1)
        other.add(time + 1_000, "renewing", "fence", number=turn + 1, flags=USED)
        other.add(time + 1_100, "told", "fence", number=turn + 1, rank=0, flags=USED)
        for each in (first, other):
            each.add(time + 1_200, "renewed", "fence", number=turn + 1)
        first.add(time + 1_300, "wait_ended", "fence", number=wait)

        first.epoch({"opened": time + 2_000, "closed": time + 2_001}, "access", turn, rank=1)
        first.add(time + 2_100, "wait_begun", "complete", number=wait + 1, id=2)
        other.epoch({"opened": time + 3_000, "closed": time + 3_001}, "exposure", turn, rank=0)
        steps = {"granted": time + 3_100, "told": time + 3_200, "completed": time + 3_300}
        first.epoch(steps, "access", turn, rank=1)
        other.epoch({"told": time + 3_300, "completed": time + 3_301}, "exposure", turn, rank=0)
        first.add(time + 3_400, "wait_ended", "complete", number=wait + 1)

        held = {"opened": time + 4_000, "granted": time + 4_001, "closed": time + 6_000}
        other.epoch({**held, "told": time + 6_100}, "lock", turn, rank=1, flags=EXCLUSIVE)
        other.epoch({"completed": time + 6_101}, "lock", turn, rank=1)
        first.epoch({"opened": time + 5_000}, "lock", turn, rank=1)
        first.add(time + 5_100, "wait_begun", "lock", number=wait + 2, rank=1, id=3)
        first.epoch({"granted": time + 6_200}, "lock", turn, rank=1)
        first.add(time + 6_300, "wait_ended", "lock", number=wait + 2, rank=1)
        steps = {"closed": time + 7_000, "told": time + 7_001, "completed": time + 7_002}
        first.epoch(steps, "lock", turn, rank=1)
    first.write(folder)
    other.write(folder)


def test_steps_are_found_by_their_times(tmp_path, monkeypatch):
    """Many have the same time, across the borders of blocks."""
    monkeypatch.setattr(entry_blocks, "_BLOCK", 4)
    times = sorted(Random(7).choices(range(12), k=60))
    rank = RecordWriter(0, 1)
    for number, time in enumerate(times):
        rank.add(time, "opened", "lock", number=number)
    rank.write(tmp_path)
    steps = EntryBlocks(read_records(tmp_path)[0][0])
    for limit in range(-1, 14):
        since = [step.number for step in steps.since(BEGUN + limit)]
        until = [step.number for step in steps.until(BEGUN + limit)]
        assert since == [number for number, time in enumerate(times) if time >= limit]
        assert until == [number for number, time in enumerate(times) if time <= limit][::-1]


def peak_of_report(folder: Path, turns: int) -> int:
    """Bytes."""
    folder.mkdir()
    write_turns(folder, turns)
    tracemalloc.start()
    try:
        table = report_on(folder, timeline=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert all(f"{turns:,}" in line for line in table.splitlines() if "Late" in line[:10])


def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(Longest, "MOST", SHOWN)
    monkeypatch.setattr(recorded_run, "_MOST_FENCES", 50)
    short, long = (peak_of_report(tmp_path / str(turns), turns) for turns in (250, 750))
    # 15,000 entries would take 3 MB, and 1,500 waits 600 KB.
    assert long - short < 400_000


def test_fences_that_a_rank_did_not_record_are_forgotten(tmp_path, monkeypatch):
    """The second of two ranks had no space for its last events."""
    monkeypatch.setattr(empty_epochs, "_MOST_PENDING", 2)
    for rank, fences in ((0, 10), (1, 4)):
        record = RecordWriter(rank, 2)
        record.window(1, "window", "0-1", rank)
        record.epoch({"opened": 0}, "fence", 1)
        for fence in range(2, 2 + fences):
            record.epoch({"renewing": 100 * fence, "renewed": 100 * fence + 50}, "fence", fence)
        record.write(tmp_path)
    (found,) = empty_epochs.empty_epochs(Run(*read_records(tmp_path)))
    assert (found.ended, found.empty, found.doubled) == (4, 4, 3)


def test_the_longest_are_kept(monkeypatch):
    monkeypatch.setattr(Longest, "MOST", 3)
    longest: Longest[str] = Longest()
    for length, item in enumerate("dbcabe"):
        longest.add(ord(item), f"{item}{length}")
    assert sorted(longest) == ["c2", "d0", "e5"] and longest.left_out == 3
    longest.add(ord("c"), "of the same length")
    assert sorted(longest) == ["c2", "d0", "e5"] and longest.left_out == 4


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_steps_are_found_across_blocks(tmp_path, monkeypatch, block):
    """Several at one time, blocks of operations alone, whose times are in no order, and none at the
    beginning."""
    monkeypatch.setattr(entry_blocks, "_BLOCK", block)
    rank = RecordWriter(0, 1)
    for number, time in enumerate([None, None, 20, 20, 20, None, None, 30, None, 40, 40, 50, None]):
        if time is None:
            rank.add(99 - number, "operation_issued", "put", id=number)
        else:
            rank.add(time, "granted", "lock", number=number)
    rank.write(tmp_path)
    (record,), _ = read_records(tmp_path)
    blocks = EntryBlocks(record)
    steps = list(blocks)
    assert [step.number for step in steps] == [2, 3, 4, 7, 9, 10, 11]
    assert blocks.last_time == BEGUN + 50
    for time in range(BEGUN + 10, BEGUN + 61, 5):
        assert list(blocks.since(time)) == [step for step in steps if step.time >= time]
        assert list(blocks.until(time)) == [step for step in steps[::-1] if step.time <= time]


@pytest.mark.parametrize("wrong", [{"kind": 99}, {"detail": 99}, {"kind": 0}])
def test_a_record_ends_before_what_no_recorder_writes(tmp_path, monkeypatch, wrong):
    monkeypatch.setattr(entry_blocks, "_BLOCK", 2)
    rank = RecordWriter(0, 1)
    for time in (10, 20, 30, 40, 50):
        rank.add(time, "granted", "lock")
    entry = list(_ENTRY.unpack(rank.entries[2]))
    for name, value in wrong.items():
        entry[{"kind": 5, "detail": 6}[name]] = value
    rank.entries[2] = _ENTRY.pack(*entry)
    rank.write(tmp_path)
    (record,), _ = read_records(tmp_path)
    assert [step.time - BEGUN for step in record.entries()] == [10, 20]
    assert [step.time - BEGUN for step in EntryBlocks(record)] == [10, 20]
    assert record.counts(("granted", "told")) == {"granted": 2, "told": 0}
