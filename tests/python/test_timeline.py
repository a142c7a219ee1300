# SPDX-License-Identifier: BSD-3-Clause
"""Epochs and arrows of a timeline, and the file for Perfetto by the rules of Chrome's format."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from oriel.cli.report import main, report_on
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.epoch_spans import epochs_of
from oriel.wait_states.longest import Longest
from oriel.wait_states.perfetto import write_timeline
from oriel.wait_states.record import EXCLUSIVE, read_records
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.run_report import make_report
from support.records import BEGUN, EVENTS_OF_A_TURN, LATE, RecordWriter, write_late_posts

EVENTS = 100_000
PAIRS = 4


def pair(name: str = "window") -> tuple[RecordWriter, RecordWriter]:
    ranks = RecordWriter(0, 2), RecordWriter(1, 2)
    for each in ranks:
        each.window(1, name, "0-1", each.rank)
        each.site(1, "MPI_Win_fence", "main")
    return ranks


def run_of(folder: Path, *ranks: RecordWriter, ended: bool = True) -> Run:
    for each in ranks:
        each.write(folder, ended)
    return Run(*read_records(folder))


# Epochs


def test_a_fence_epoch_changes_its_number_when_it_is_closed(tmp_path):
    """Two are under way at once: the second is opened before the first has completed."""
    rank, other = pair()
    rank.epoch({"opened": 0, "activated": 10}, "fence", 0)
    rank.epoch({"closed": 100}, "fence", 1)
    rank.epoch({"opened": 110, "deferred": 120}, "fence", 1)
    rank.epoch({"completed": 150}, "fence", 1)
    rank.epoch({"activated": 160}, "fence", 1)
    rank.epoch({"closed": 200, "completed": 210}, "fence", 2)
    history = run_of(tmp_path, rank, other).histories[0]
    first, second = epochs_of(history)
    assert (first.begun, first.time_of("closed"), first.ended) == (BEGUN, BEGUN + 100, BEGUN + 150)
    assert [step.kind for step in second.steps] == [
        "opened", "deferred", "activated", "closed", "completed"
    ]  # fmt: skip
    assert second.completed


def test_a_renewal_ends_an_epoch_and_begins_another(tmp_path):
    rank, other = pair()
    rank.epoch({"opened": 0, "activated": 10}, "fence", 0)
    rank.epoch({"renewing": 100, "renewed": 130}, "fence", 1)
    history = run_of(tmp_path, rank, other).histories[0]
    first, second = epochs_of(history)
    assert first.completed and first.time_of("closed", "renewing") == BEGUN + 100
    assert first.ended == second.begun == BEGUN + 130
    assert second.time_of("activated") == BEGUN + 130


def test_an_epoch_that_never_completes_lasts_to_the_end(tmp_path):
    """Of the record, of a rank that was killed."""
    rank, other = pair()
    rank.epoch({"opened": 10}, "lock", 3)
    rank.epoch({"opened": 20, "completed": 400}, "lock", 5)
    history = run_of(tmp_path, rank, other, ended=False).histories[0]
    complete, pending = epochs_of(history)
    assert complete.completed and complete.begun == BEGUN + 20
    assert not pending.completed and pending.ended == BEGUN + 400


# Who ended a wait


def test_a_fence_is_ended_by_the_last_rank_that_enters(tmp_path):
    early, late = pair()
    for rank, entered in ((early, 1_000), (late, 90_000)):
        rank.epoch({"opened": 0, "activated": 10}, "fence", 0)
        rank.epoch({"renewing": entered}, "fence", 1, rank=rank.rank)  # one has put to itself
    early.add(1_100, "wait_begun", "fence", id=1)
    early.epoch({"renewed": 95_000}, "fence", 1)
    early.add(95_100, "wait_ended", "fence")
    late.epoch({"renewed": 95_000}, "fence", 1)
    run = run_of(tmp_path, early, late)
    waited, rest = wait_states(run)
    history, step = waited.ended_by
    assert history.rank == 1
    assert (waited.pattern, waited.late) == ("Wait at Fence", 1)
    assert (step.kind, step.time) == ("renewing", BEGUN + 90_000)
    assert (rest.pattern, rest.ended_by) == ("Transfer", None)


def test_a_lock_is_ended_by_the_holders_unlock(tmp_path):
    waiting, holder = pair()
    holder.epoch(
        {"opened": 0, "granted": 10, "closed": 50_000, "told": 50_500},
        "lock", 1, rank=1, flags=EXCLUSIVE,
    )  # fmt: skip
    waiting.epoch({"opened": 1_000, "closed": 1_100}, "lock", 1, rank=1)
    waiting.add(1_200, "wait_begun", "unlock", rank=1, id=1)
    waiting.epoch({"granted": 51_000, "told": 51_100, "completed": 51_200}, "lock", 1, rank=1)
    waiting.add(51_300, "wait_ended", "unlock", rank=1)
    run = run_of(tmp_path, waiting, holder)
    steps = {state.pattern: state.ended_by for state in wait_states(run)}
    history, step = steps["Late Unlock"]
    assert (history.rank, step.kind, step.time) == (1, "closed", BEGUN + 50_000)
    assert steps["Transfer"] is None


def test_a_post_for_another_origin_ends_no_wait(tmp_path):
    waiting, late = pair()
    waiting.epoch({"opened": 0, "activated": 10, "closed": 20}, "access", 1, rank=1)
    waiting.add(30, "wait_begun", "complete", id=1)
    waiting.epoch({"granted": 9_000, "told": 9_100, "completed": 9_200}, "access", 1, rank=1)
    waiting.add(9_300, "wait_ended", "complete")
    late.epoch({"opened": 7_000}, "exposure", 1, rank=0)
    late.epoch({"opened": 8_000}, "exposure", 3, rank=1)
    run = run_of(tmp_path, waiting, late)
    state = next(wait_states(run))
    assert state.ended_by[1].time == BEGUN + 7_000


# The file


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> list[dict]:
    folder = tmp_path_factory.mktemp("record")
    write_late_posts(folder, PAIRS, EVENTS // EVENTS_OF_A_TURN // PAIRS)
    run = Run(*read_records(folder))
    path = folder / "timeline.json"
    write_timeline(make_report(run), run, path)
    assert path.stat().st_size < 200 * EVENTS
    return check(path)


def test_of_equally_long_epochs_no_more_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(Longest, "MOST", 7)
    write_late_posts(tmp_path, 1, 10)
    run = Run(*read_records(tmp_path))
    write_timeline(make_report(run), run, tmp_path / "timeline.json")
    timeline = json.loads((tmp_path / "timeline.json").read_text("utf-8"))
    assert "13 epochs are left out" in timeline["otherData"]["waits and epochs"]
    assert sum(event["ph"] == "b" for event in timeline["traceEvents"]) == 7


def nanoseconds(event: dict) -> int:
    return round(event["ts"] * 1000)


def check(path: Path) -> list[dict]:
    """The rules of Chrome's format, and those by which Perfetto binds an arrow to a slice."""
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    processes = {event["pid"] for event in events if event["name"] == "process_name"}
    tracks = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    slices = defaultdict(list)
    begun, ended, within, flows = {}, {}, defaultdict(list), defaultdict(dict)
    for event in events:
        assert event["pid"] in processes
        if event["ph"] == "M":
            continue
        assert nanoseconds(event) >= 0
        track = event["pid"], event["tid"]
        assert track in tracks
        if event["ph"] == "X":
            at = nanoseconds(event)
            slices[track].append((at, -round(event["dur"] * 1000), event["name"]))
        elif event["ph"] == "n":
            within[event["cat"], event["id2"]["local"]].append(nanoseconds(event))
        elif event["ph"] in "be":
            one = begun if event["ph"] == "b" else ended
            key = event["cat"], event["id2"]["local"]
            assert key not in one
            one[key] = event["pid"], event["name"], nanoseconds(event)
        else:
            assert event["ph"] in "sf"
            key = event["cat"], event["id"], event["name"]
            assert event["ph"] not in flows[key]
            flows[key][event["ph"]] = (*track, nanoseconds(event))
            assert event["ph"] == "s" or event["bp"] == "e"
    # Each asynchronous slice has one begin and one end, and its steps between them.
    assert begun.keys() == ended.keys()
    for key, (*where, at) in begun.items():
        assert where == list(ended[key][:2]) and at <= ended[key][2]
        assert all(at <= step <= ended[key][2] for step in within[key])
    # Slices of a track lie beside or within one another.
    starts: dict[tuple, set[int]] = {}
    ends_at: dict[tuple, dict[int, str]] = {}
    for track, its in slices.items():
        open_until: list[int] = []
        for at, minus, _ in sorted(its, key=lambda each: each[:2]):
            assert minus < 0
            while open_until and open_until[-1] <= at:
                open_until.pop()
            assert not open_until or at - minus <= open_until[-1]
            open_until.append(at - minus)
        starts[track] = {at for at, _, _ in its}
        ends_at[track] = {at - minus: name for at, minus, name in its}
    # Each arrow leads from a slice to the end of one, forward in time.
    for (_, _, name), both in flows.items():
        assert both.keys() == {"s", "f"}
        (*source, begin), (*target, end) = both["s"], both["f"]
        assert begin in starts[tuple(source)] and begin <= end
        assert end + 1 in ends_at[tuple(target)], name
    return events


def test_a_large_timeline(events):
    """10^5 events of eight ranks: each wait has its parts and its arrow."""
    turns = EVENTS // EVENTS_OF_A_TURN // PAIRS * PAIRS
    named = defaultdict(list)
    for event in events:
        named[event["ph"], event["name"]].append(event)
    assert len(named["X", "MPI_Win_complete"]) == turns
    assert {event["dur"] for event in named["X", "Late Post"]} == {LATE / 1000}
    assert {event["args"]["late rank"] for event in named["X", "Late Post"]} == {1, 3, 5, 7}
    assert len(named["s", "Late Post"]) == len(named["X", "exposure epoch activated"]) == turns
    assert {event["pid"] for event in named["s", "Late Post"]} == {1, 3, 5, 7}
    assert len(named["b", "halo: access"]) == len(named["b", "halo: exposure"]) == turns
    assert len(named["n", "closed"]) == 2 * turns


def test_a_lock_has_its_holders_and_its_queue(tmp_path):
    """At the rank whose lock it is; a lock that is granted within a microsecond has no queue."""
    waiting, holder = pair("bag")
    holder.epoch(
        {"opened": 0, "granted": 900, "closed": 50_000, "told": 50_500},
        "lock", 1, rank=1, flags=EXCLUSIVE,
    )  # fmt: skip
    waiting.epoch({"opened": 1_000, "granted": 51_000, "told": 51_100}, "lock", 1, rank=1)
    waiting.epoch({"opened": 60_000, "granted": 70_000}, "lock_all", 3, rank=1)
    run_of(tmp_path, waiting, holder)
    report_on(tmp_path, timeline=True)
    events = check(tmp_path / "timeline.json")
    tracks = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    slices = [
        (tracks[event["pid"], event["tid"]], event["name"], nanoseconds(event), event["dur"])
        for event in events
        if event.get("cat") == "lock"
    ]
    assert {event["pid"] for event in events if event.get("cat") == "lock"} == {1}
    assert sorted(slices) == [
        ("bag: lock", "held by rank 0", 51_000, 0.1),
        ("bag: lock", "held by rank 0", 70_000, 1.0),  # to the end of the record
        ("bag: lock", "held by rank 1", 900, 49.6),
        ("bag: lock queue", "rank 0 waits", 1_000, 50.0),
    ]


def test_waits_of_two_threads_are_on_two_tracks(tmp_path):
    rank, other = pair("flushed")
    rank.add(100, "wait_begun", "flush", number=1, rank=1)
    rank.add(200, "wait_begun", "flush", number=2, rank=0)
    rank.add(300, "wait_ended", "flush", number=1, rank=1)
    rank.add(400, "wait_ended", "flush", number=2, rank=0)
    rank.add(500, "wait_begun", "flush", number=3, rank=1)
    rank.add(600, "wait_ended", "flush", number=3, rank=1)
    run_of(tmp_path, rank, other)
    report_on(tmp_path, timeline=True)
    events = check(tmp_path / "timeline.json")
    names = {
        event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    waits = [names[event["tid"]] for event in events if event.get("cat") == "wait"]
    assert waits == ["flushed: waits", "flushed: waits 2", "flushed: waits"]


def test_a_fence_entered_as_the_wait_ends(tmp_path):
    """The arrow does not go back in time, though the slice ends with the step."""
    early, late = pair()
    for rank, entered in ((early, 1_000), (late, 90_000)):
        rank.epoch({"opened": 0, "activated": 10}, "fence", 0)
        rank.epoch({"renewing": entered}, "fence", 1)
    early.add(1_100, "wait_begun", "fence", id=1)
    early.epoch({"renewed": 90_000}, "fence", 1)
    early.add(90_000, "wait_ended", "fence")
    run_of(tmp_path, early, late)
    report_on(tmp_path, timeline=True)
    events = check(tmp_path / "timeline.json")
    assert [event["name"] for event in events if event["ph"] == "s"] == ["Wait at Fence"]


def test_no_timeline_is_written_unless_asked_for(tmp_path, capsys):
    write_late_posts(tmp_path, 1, 3)
    assert main([str(tmp_path)]) == 0
    assert "Late Post" in capsys.readouterr().out
    written = {path.name for path in tmp_path.iterdir() if not path.name.startswith("rank-")}
    assert written == {"report.json", "index.html"}
