# SPDX-License-Identifier: BSD-3-Clause
"""Operations and notifications of a timeline: what belongs together, and how it is drawn."""

from __future__ import annotations

import json
from pathlib import Path

from oriel.cli.report import report_on
from oriel.wait_states.operations import first_operations
from oriel.wait_states.record import PROTOCOLS
from oriel.wait_states.recorded_activity import Activity
from oriel.wait_states.transfers import first_transfers
from support.records import BEGUN, RecordWriter
from test_timeline import check, nanoseconds, pair, run_of


def put(rank: RecordWriter, time, number, tag=None, done=None, target=1, kind="tag") -> None:
    about = {"number": 8, "rank": target}
    flags = PROTOCOLS.index("message")
    rank.add(time, "operation_issued", "put", id=number, flags=flags, **about)
    if tag is not None:
        rank.add(time, "notification_sent", kind, id=tag, **about)
    if done is not None:
        rank.add(done, "operation_done", "put", id=number, flags=flags, **about)


def match(rank: RecordWriter, time: int, tag: int, source=0) -> None:
    rank.add(time, "notification_matched", "tag", id=tag, number=8, rank=source)


def count(rank: RecordWriter, time: int, index: int, more: int) -> None:
    rank.add(time, "notification_counted", "counter", id=index, number=more)


def send(rank: RecordWriter, begun: int, ended: int, to: int, step: int = 0) -> None:
    about = {"number": 64, "rank": to, "id": 5, "flags": step}
    rank.add(begun, "transfer_begun", "sent", **about)
    rank.add(ended, "transfer_ended", "sent", **about)


def receive(rank: RecordWriter, time: int, source: int, step: int = 0) -> None:
    about = {"number": 64, "rank": source, "id": 5, "flags": step}
    rank.add(time, "transfer_ended", "received", **about)


def drawn(folder: Path, *ranks: RecordWriter) -> list[dict]:
    run_of(folder, *ranks)
    report_on(folder, timeline=True)
    return check(folder / "timeline.json")


def test_notifications_are_matched_in_the_order_of_their_tag(tmp_path):
    origin, target = pair()
    for number, (time, tag) in enumerate([(100, 7), (200, 8), (300, 7), (400, 7)], 1):
        put(origin, time, number, tag)
    match(target, 1_000, 8)
    match(target, 1_100, 7)
    match(target, 1_200, 7)
    put(target, 1_300, 1, 7, target=0)  # the other way
    match(origin, 1_400, 7, source=1)
    operations = first_operations(run_of(tmp_path, origin, target), 10)
    times = [each.taking and each.taking.time - BEGUN for each in operations]
    assert times == [1_100, 1_000, 1_200, None, 1_400]


def test_a_match_that_seems_earlier_is_drawn_as_the_operation_begins(tmp_path):
    """Two ranks read their clocks some nanoseconds apart."""
    origin, target = pair()
    put(origin, 120, 1, 7)
    match(target, 100, 7)
    events = drawn(tmp_path, origin, target)
    begin, end = (event for event in events if event.get("cat") == "notification")
    assert (begin["ph"], begin["pid"]) == ("s", 0) and (end["ph"], end["pid"]) == ("f", 1)
    assert nanoseconds(end) >= nanoseconds(begin) == 120


def test_a_look_at_a_counter_takes_all_that_have_added_to_it(tmp_path):
    """In the order of time, whoever they are; those of another counter are its own."""
    ranks = [RecordWriter(rank, 3) for rank in range(3)]
    for each in ranks:
        each.window(1, "window", "0-2", each.rank)
    first, second, target = ranks
    put(first, 100, 1, 0, target=2, kind="counter")
    put(second, 150, 1, 0, target=2, kind="counter")
    put(first, 200, 2, 0, target=2, kind="counter")
    put(second, 250, 2, 1, target=2, kind="counter")
    put(second, 300, 3, 0, target=2, kind="counter")  # which nobody looks at
    count(target, 400, 0, 2)
    count(target, 500, 0, 1)
    count(target, 600, 1, 1)
    operations = first_operations(run_of(tmp_path, *ranks), 10)
    taken = [(each.begun - BEGUN, each.taking and each.taking.time - BEGUN) for each in operations]
    assert taken == [(100, 400), (150, 400), (200, 500), (250, 600), (300, None)]
    report_on(tmp_path, timeline=True)
    events = check(tmp_path / "timeline.json")
    looks = [each for each in events if "more" in each.get("args", {})]
    assert [(each["pid"], each["name"], nanoseconds(each)) for each in looks] == [
        (2, "counter 0", 400), (2, "counter 0", 500), (2, "counter 1", 600)
    ]  # fmt: skip
    ends = [event for event in events if event.get("cat") == "notification" and event["ph"] == "f"]
    # In each slice; the last one is longer.
    assert [nanoseconds(event) // 100 for event in ends] == [4, 4, 5, 15]


def test_transfers_of_collectives_are_matched_by_collective_and_ranks(tmp_path):
    first, second = pair("plans")
    send(first, 100, 900, 1)
    receive(second, 800, 0)
    send(second, 150, 160, 0)
    receive(first, 500, 1)
    send(first, 1_000, 1_100, 1, step=2)
    receive(second, 990, 0, step=2)  # by its own clock
    send(first, 2_000, 2_100, 1)  # of a use that is cut
    run = run_of(tmp_path, first, second)
    transfers = first_transfers(run, 10)
    assert [
        (
            each.origin.rank,
            each.begun - BEGUN,
            each.ended - BEGUN,
            each.arrived and each.arrived - BEGUN,
        )
        for each in transfers
    ] == [(0, 100, 900, 800), (1, 150, 160, 500), (0, 1_000, 1_100, 1_000), (0, 2_000, 2_100, None)]
    assert transfers[2].about == {"collective": 5, "step": 2}
    report_on(tmp_path, timeline=True)
    names = {
        (event["pid"], event["args"]["name"])
        for event in check(tmp_path / "timeline.json")
        if event["name"] == "thread_name"
    }
    assert names == {
        (rank, f"plans: {what}") for rank in (0, 1) for what in ("transfers", "transfers of others")
    }


def test_sweeps_of_the_agent_have_a_track(tmp_path):
    rank, other = pair()
    rank.add(1_000, "agent_swept", "", window=0, number=500)
    (sweep,) = [each for each in drawn(tmp_path, rank, other) if each["name"] == "sweep"]
    assert (sweep["pid"], nanoseconds(sweep), sweep["dur"]) == (0, 1_000, 0.5)
    (name,) = [each for each in check(tmp_path / "timeline.json") if each["name"] == "thread_name"]
    assert name["args"] == {"name": "progress agent"} and name["tid"] == sweep["tid"]


def test_operations_that_overlap_are_on_two_tracks(tmp_path):
    origin, target = pair("halo")
    put(origin, 100, 1)  # takes no time
    put(origin, 110, 2, done=9_000)
    put(origin, 200, 3, done=5_000)
    events = drawn(tmp_path, origin, target)
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    slices = [
        (names[event["pid"], event["tid"]], event["name"], nanoseconds(event), event["dur"])
        for event in events
        if event.get("cat") == "operation" and event["ph"] == "X"
    ]
    assert sorted(slices) == [
        ("halo: operations", "put", 100, 0.01),
        ("halo: operations", "put", 110, 8.89),
        ("halo: operations 2", "put", 200, 4.8),
        ("halo: operations of others", "put of rank 0", 100, 1.0),
        # They are there at the latest when they are done.
        ("halo: operations of others", "put of rank 0", 5_000, 1.0),
        ("halo: operations of others", "put of rank 0", 9_000, 1.0),
    ]
    arrows = [
        event["ph"] for event in events if event.get("cat") == "operation" and event["ph"] != "X"
    ]
    assert sorted(arrows) == ["f", "f", "f", "s", "s", "s"]


def test_a_target_without_a_record_has_no_arrow(tmp_path):
    origin, _ = pair()
    put(origin, 100, 1, 7)
    events = drawn(tmp_path, origin)
    assert [event["args"] for event in events if event.get("cat") == "operation"] == [
        {"target": 1, "bytes": 8, "protocol": "message", "tag": 7}
    ]


def test_a_timeline_has_a_limit(tmp_path, monkeypatch):
    """The first operations of all ranks."""
    monkeypatch.setattr(Activity, "MOST", 3)
    origin, target = pair()
    for number in range(1, 4):
        put(origin, 100 * number, number)
        put(target, 100 * number + 50, number, target=0)
    events = drawn(tmp_path, origin, target)
    slices = [event for event in events if event.get("cat") == "operation" and event["ph"] == "X"]
    assert [event["pid"] for event in slices if "target" in event["args"]] == [0, 1, 0]
    text = (tmp_path / "timeline.json").read_text("utf-8")
    about = json.loads(text)["otherData"]["operations"]
    assert about == "the first 3; 3 later ones are left out"


def test_operations_are_no_part_of_the_report(tmp_path):
    """The events that make wait states are few beside them."""
    origin, target = pair()
    put(origin, 100, 1, 7)
    origin.epoch({"opened": 110}, "lock", 1)
    put(origin, 120, 2)
    match(target, 200, 7)
    run = run_of(tmp_path, origin, target)
    assert [[step.time for step in each.steps] for each in run.histories] == [[BEGUN + 110], []]
    records = [each.record for each in run.histories]
    assert [each.counts(("operation_issued",)) for each in records] == [
        {"operation_issued": 2}, {"operation_issued": 0}
    ]  # fmt: skip
    assert [entry.kind for entry in records[0].entries()] == [
        "operation_issued", "notification_sent", "opened", "operation_issued"
    ]  # fmt: skip
