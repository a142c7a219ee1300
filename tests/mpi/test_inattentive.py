# SPDX-License-Identifier: BSD-3-Clause
"""Waits for a rank that computes, for something that is done there only when it calls MPI (B1)."""

from __future__ import annotations

import json

import pytest
from conftest import folder_of
from oriel.cli.report import report_on
from oriel.wait_states.record import read_records
from paced_run import HOUR, TOLERANCE, Moment, Step, paced_run

TURNS = 2
NO_AGENT = {"ORIEL_AGENT_INTERVAL": "0"}


def longest_wait(
    job, host, folder, scenario: str, steps, settings=None, nodes=None, waiting=0
) -> dict:
    """The row of the report in which this rank waited longest."""
    command = [folder_of(host) / "inattentive", str(len(steps)), scenario]
    paced_run(job, host, command, max(waiting + 1, 2), folder, steps, settings, nodes)
    table = report_on(folder, all_waits=True)
    rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if str(waiting) in row["waited"] and row["window"]]
    assert rows, table
    return max(rows, key=lambda row: row["waited"][str(waiting)])


def served_in(folder) -> set[str]:
    """Where the late rank served the other one."""
    records, _ = read_records(folder)
    return {entry.detail for entry in records[1].entries(("served",))}


def check(row: dict, pattern: str, call: str, waiting: int = 0) -> None:
    assert (row["pattern"], row["call"]) == (pattern, call), row
    assert max(row["late"], key=row["late"].__getitem__) == "1", row
    assert row["waited"][str(waiting)] == pytest.approx(TURNS * HOUR, rel=TOLERANCE), row


def all_in_fence(moment: Moment) -> bool:
    """No rank has still to enter the fence that rank 2 is in. A fence call closes or renews the
    epoch of the call before."""
    calls = [sum(1 for _ in moment.entries(rank, ("closed", "renewing"))) for rank in range(3)]
    return min(calls) == calls[2]


def turns_with(waiting: int, **conditions) -> list[Step]:
    return TURNS * [Step(HOUR, over=[1], waiting=[waiting], **conditions)]


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    ("scenario", "call"),
    [("flush", "MPI_Win_flush"), ("request", "MPI_Wait"), ("fence", "MPI_Win_fence")],
)
def test_a_target_without_an_agent_is_late(job, host, tmp_path, three_nodes, scenario, call):
    waiting = 2 if scenario == "fence" else 0
    nodes = three_nodes.first(max(waiting + 1, 2))
    # Rank 0 enters the fence before the hour begins, or it would be the late rank of the fence.
    conditions = {"ready": all_in_fence} if scenario == "fence" else {}
    steps = turns_with(waiting, **conditions)
    row = longest_wait(job, host, tmp_path, scenario, steps, NO_AGENT, nodes, waiting)
    check(row, "Wait for Progress", call, waiting)
    assert row["avoidable"] == row["seconds"]


@pytest.mark.hosts("mpich")
def test_an_agent_spares_what_the_report_says(job, host, tmp_path, three_nodes):
    """With it the other rank comes back from its call while the target computes."""
    nodes = three_nodes.first(2)
    without, with_it = tmp_path / "without", tmp_path / "with"
    row = longest_wait(job, host, without, "flush", turns_with(0), NO_AGENT, nodes)
    turns = [Step(HOUR, over=[1], returned=[0]) for turn in range(TURNS)]
    spared = longest_wait(job, host, with_it, "flush", turns, None, nodes)
    assert "agent" in served_in(with_it) - served_in(without)
    saved = row["waited"]["0"] - spared["waited"]["0"]
    assert row["avoidable"] == pytest.approx(saved, rel=TOLERANCE)


@pytest.mark.hosts("mpich")
def test_a_target_that_takes_no_notifications_is_late(job, host, tmp_path):
    row = longest_wait(job, host, tmp_path, "queue", turns_with(0))
    check(row, "Wait for Queue Space", "MPI_Win_flush")
    assert row["window"] == "queue"


@pytest.mark.hosts("mpich")
def test_the_rank_that_starts_a_collective_last_is_late(job, host, tmp_path):
    row = longest_wait(job, host, tmp_path, "collective", turns_with(0))
    check(row, "Late Collective Start", "MPI_Wait")
    assert row["window"] == "persistent collectives"
