# SPDX-License-Identifier: BSD-3-Clause
"""What a rank records of its operations and notifications where a timeline is asked for (B1)."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from conftest import folder_of, oriel
from oriel.wait_states.record import STEP_KINDS, TRANSFER_KINDS, read_records

# Of tests/mpi/recorded.cpp, on each window: kind and bytes.
OPERATIONS = [
    ("put", 8),
    ("get", 16),
    ("accumulate", 24),
    ("get_accumulate", 32),
    ("get_accumulate", 8),  # MPI_Fetch_and_op
    ("compare_and_swap", 8),
    ("put", 40),
    ("put", 48),  # of a vector
    ("put", 8 * 8192),
    ("put", 56),
    ("put", 64),
    ("put", 72),
    *5 * [("put", 8)],
]
# Kind, tag or index, bytes.
SENT = [("tag", 70, 56), ("tag", 80, 64), ("tag", 70, 72), *5 * [("counter", 0, 8)]]
# In the order in which they are asked for.
MATCHED = [("tag", 70, 56), ("tag", 70, 72), ("tag", 80, 64)]
# How many more a counter had whenever it was looked at.
COUNTED = [1, 1, 1, 1, 1]


def of_kind(record, window: int, kind: str) -> list:
    return [each for each in record.entries() if (each.window, each.kind) == (window, kind)]


def check(folder, protocols: dict[str, str]) -> None:
    """`protocols`: by the window's name."""
    (origin, target), _ = read_records(folder)
    assert {window.name for window in origin.windows.values()} == protocols.keys()
    for number, window in origin.windows.items():
        issued = of_kind(origin, number, "operation_issued")
        assert [(each.detail, each.number) for each in issued] == OPERATIONS
        assert {each.rank for each in issued} == {1}
        assert {each.protocol for each in issued} == {protocols[window.name]}
        numbers = {each.id: each for each in issued}
        assert len(numbers) == len(issued)
        for done in of_kind(origin, number, "operation_done"):
            its = numbers.pop(done.id)  # once
            assert its._replace(kind=done.kind, time=done.time) == done and done.time > its.time
        sent = of_kind(origin, number, "notification_sent")
        assert [(each.detail, each.id, each.number) for each in sent] == SENT
        matched = of_kind(target, number, "notification_matched")
        assert [(each.detail, each.id, each.number) for each in matched] == MATCHED
        assert {each.rank for each in sent} == {1} and {each.rank for each in matched} == {0}
        assert sent[0].time < matched[0].time
        counted = of_kind(target, number, "notification_counted")
        assert [(each.detail, each.id, each.number) for each in counted] == [
            ("counter", 0, more) for more in COUNTED
        ]
    assert not any(each.kind.startswith("operation") for each in target.entries())


def test_each_operation_is_recorded_once(job, host, tmp_path):
    """Those that go straight to memory, too."""
    settings = {"ORIEL_REPORT": str(tmp_path), "ORIEL_TIMELINE": "1"}
    status, output = job.run_command(host, [folder_of(host) / "recorded"], 2, settings)
    assert status == 0, output
    check(tmp_path, {"allocate": "stored", "create": "system_call"})
    (origin, _), _ = read_records(tmp_path)
    # How long a long one took.
    done = [each for each in origin.entries() if each.kind == "operation_done"]
    assert [each.number for each in done] == 2 * [8 * 8192]


@pytest.mark.hosts("mpich")
def test_attached_memory_decides_the_protocol(job, host, tmp_path):
    """The rank has no path of its own on a dynamic window."""
    settings = {"ORIEL_REPORT": str(tmp_path), "ORIEL_TIMELINE": "1"}
    status, output = job.run_command(host, [folder_of(host) / "recorded", "attached"], 2, settings)
    assert status == 0, output
    (origin, _), _ = read_records(tmp_path)
    issued = [each for each in origin.entries() if each.kind == "operation_issued"]
    assert [each.protocol for each in issued] == 2 * ["stored"] + 2 * ["system_call"]


def transfers_of(folder) -> list[list]:
    """Of each rank: kind, side, bytes, peer, step."""
    records, _ = read_records(folder)
    return [
        [
            (each.kind, each.detail, each.number, each.rank, each.flags)
            for each in record.entries(TRANSFER_KINDS)
        ]
        for record in records
    ]


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("nodes", (1, 2))
def test_each_transfer_of_a_collective_is_recorded(job, host, tmp_path, nodes, three_nodes):
    settings = {"ORIEL_REPORT": str(tmp_path), "ORIEL_TIMELINE": "1"}
    words = [folder_of(host) / "recorded", "collective"]
    where = three_nodes.first(2) if nodes == 2 else None
    status, output = job.run_command(host, words, 2, settings, nodes=where)
    assert status == 0, output
    for rank, transfers in enumerate(transfers_of(tmp_path)):
        steps = (("begun", "sent"), ("ended", "sent"), ("ended", "received"))
        assert Counter(transfers) == {
            (f"transfer_{kind}", side, bytes, 1 - rank, 0): 3
            for kind, side in steps
            for bytes in (24, 800_000)
        }
        sent = [kind for kind, side, *_ in transfers if side == "sent"]
        assert sent == 6 * ["transfer_begun", "transfer_ended"]
    # The window of a communicator's collectives is known, and who is who in it.
    assert [len(record.windows) for record in read_records(tmp_path)[0]] == [1, 1]


@pytest.mark.hosts("mpich")
def test_sweeps_of_the_agent_are_recorded(job, host, tmp_path, three_nodes):
    """Of a rank that makes no calls: others' messages move in them alone."""
    settings = {"ORIEL_REPORT": str(tmp_path), "ORIEL_TIMELINE": "1"}
    words = [folder_of(host) / "recorded", "computing"]
    status, output = job.run_command(host, words, 2, settings, nodes=three_nodes.first(2))
    assert status == 0, output
    records, _ = read_records(tmp_path)
    sweeps = list(records[1].entries(("agent_swept",)))
    assert sweeps
    for sweep, after in zip(sweeps, sweeps[1:]):
        assert sweep.time + sweep.number <= after.time


@pytest.mark.hosts("mpich")
def test_operations_between_nodes(job, host, tmp_path, three_nodes):
    settings = {"ORIEL_REPORT": str(tmp_path), "ORIEL_TIMELINE": "1"}
    command = [folder_of(host) / "recorded"]
    status, output = job.run_command(host, command, 2, settings, nodes=three_nodes)
    assert status == 0, output
    check(tmp_path, {"allocate": "message", "create": "message"})


@pytest.mark.hosts("mpich")
def test_a_report_alone_records_none(job, host, tmp_path):
    settings = {"ORIEL_REPORT": str(tmp_path)}
    status, output = job.run_command(host, [folder_of(host) / "recorded"], 2, settings)
    assert status == 0, output
    records, _ = read_records(tmp_path)
    entries = [entry for record in records for entry in record.entries()]
    assert entries and {entry.kind for entry in entries} <= set(STEP_KINDS)


@pytest.mark.hosts("mpich")
def test_under_another_launcher_there_is_a_timeline(job, host, tmp_path):
    words = ["env", "-C", tmp_path, folder_of(host) / "recorded"]
    settings = {"ORIEL_REPORT": "1", "ORIEL_TIMELINE": "1"}
    status, output = job.run_command(host, words, 2, settings)
    assert status == 0 and "waits of 2 ranks" in output, output
    assert (tmp_path / "oriel-report" / "timeline.json").stat().st_size > 0


@pytest.mark.hosts("mpich")
def test_a_timeline_without_a_report_is_reported(job, host, tmp_path):
    words = ["env", "-C", tmp_path, folder_of(host) / "recorded"]
    status, output = job.run_command(host, words, 2, {"ORIEL_TIMELINE": "1"})
    assert status == 0 and "ORIEL_REPORT is not set; set ORIEL_REPORT=1" in output, output
    assert not list(tmp_path.iterdir())


@pytest.mark.hosts("mpich")
def test_the_command_writes_the_timeline(host, tmp_path):
    ended = oriel(
        "run", "-n", 2, "--mpi", host.name, "--timeline", folder_of(host) / "recorded",
        before=["env", "-C", str(tmp_path)],
    )  # fmt: skip
    assert ended.returncode == 0 and "waits of 2 ranks" in ended.stderr, ended.stderr
    text = (tmp_path / "oriel-report" / "timeline.json").read_text("utf-8")
    arrows = Counter(
        (event["cat"], event["pid"])
        for event in json.loads(text)["traceEvents"]
        if event["ph"] in "sf" and event["cat"] != "late rank"
    )
    # From rank 0 to rank 1, on two windows.
    assert arrows == {
        (category, rank): 2 * count
        for category, count in (("operation", len(OPERATIONS)), ("notification", len(SENT)))
        for rank in (0, 1)
    }
