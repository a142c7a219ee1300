# SPDX-License-Identifier: BSD-3-Clause
"""Waits for a rank that computes, for something that is done there only when it calls MPI (B1)."""

from __future__ import annotations

import json
import re

import pytest
from conftest import LOST_PROCESSOR, folder_of, until_times_agree
from oriel.cli.report import report_on
from oriel.wait_states.record import read_records

MILLISECONDS, TURNS = 40, 3
NO_AGENT = {"ORIEL_AGENT_INTERVAL": "0"}


def waits_of(
    job, host, folder, scenario: str, settings=None, nodes=None, waiting=0
) -> tuple[float, dict]:
    """Seconds that a rank waited as it measured them, and its longest row of the report."""
    command = [folder_of(host) / "inattentive", str(MILLISECONDS), str(TURNS), scenario]
    settings = {"ORIEL_REPORT": str(folder), **(settings or {})}
    status, output = job.run_command(host, command, max(waiting + 1, 2), settings, nodes)
    assert status == 0, output
    measured = float(re.search(rf"rank {waiting} waited ([\d.]+)", output)[1])
    table = report_on(folder, all_waits=True)
    rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if str(waiting) in row["waited"] and row["window"]]
    assert rows, table
    return measured, max(rows, key=lambda row: row["waited"][str(waiting)])


def served_in(folder) -> set[str]:
    """Where the late rank served the other one."""
    records, _ = read_records(folder)
    return {entry.detail for entry in records[1].entries(("served",))}


def check(measured: float, row: dict, pattern: str, call: str, waiting: int = 0) -> None:
    assert (row["pattern"], row["call"]) == (pattern, call), row
    assert max(row["late"], key=row["late"].__getitem__) == "1", row
    # The rest is the transfer. On a busy machine a rank may lose its processor.
    waited = row["waited"][str(waiting)]
    assert 0.9 * measured - TURNS * LOST_PROCESSOR <= waited <= 1.001 * measured, row
    assert measured >= 0.5 * TURNS * MILLISECONDS / 1000, row


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    ("scenario", "call"),
    [("flush", "MPI_Win_flush"), ("request", "MPI_Wait"), ("fence", "MPI_Win_fence")],
)
def test_a_target_without_an_agent_is_late(job, host, tmp_path, three_nodes, scenario, call):
    waiting = 2 if scenario == "fence" else 0
    nodes = three_nodes.first(max(waiting + 1, 2))
    measured, row = waits_of(job, host, tmp_path, scenario, NO_AGENT, nodes, waiting)
    check(measured, row, "Wait for Progress", call, waiting)
    assert row["avoidable"] == row["seconds"]


@pytest.mark.hosts("mpich")
def test_an_agent_spares_what_the_report_says(job, host, tmp_path, three_nodes):
    nodes = three_nodes.first(2)

    def broken_promise(number: int) -> list[tuple[float, float]]:
        folder = tmp_path / f"{number}"
        folder.mkdir()
        before, row = waits_of(job, host, folder / "without", "flush", NO_AGENT, nodes)
        after, _ = waits_of(job, host, folder / "with", "flush", None, nodes)
        assert "agent" in served_in(folder / "with") - served_in(folder / "without")
        saved = before - after
        most = 0.2 * saved + TURNS * LOST_PROCESSOR
        return [(row["avoidable"], saved)] if abs(row["avoidable"] - saved) > most else []

    until_times_agree(broken_promise)


@pytest.mark.hosts("mpich")
def test_a_target_that_takes_no_notifications_is_late(job, host, tmp_path):
    measured, row = waits_of(job, host, tmp_path, "queue")
    check(measured, row, "Wait for Queue Space", "MPI_Win_flush")
    assert row["window"] == "queue"


@pytest.mark.hosts("mpich")
def test_the_rank_that_starts_a_collective_last_is_late(job, host, tmp_path):
    measured, row = waits_of(job, host, tmp_path, "collective")
    check(measured, row, "Late Collective Start", "MPI_Wait")
    assert row["window"] == "persistent collectives"
