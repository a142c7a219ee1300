# SPDX-License-Identifier: BSD-3-Clause
"""What a run tells of itself: the counts of `oriel run --info`, and the trace of ORIEL_TRACE."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest
from conftest import folder_of, oriel

LINE = re.compile(
    r"(?P<time>\d+\.\d{9}) pid=(?P<pid>\d+) window=(?P<window>\d+) rank=(?P<rank>-?\d+) "
    r"(?P<event>\w+)(?P<rest>.*)"
)


def run(host, *words, program="passive", **environment):
    ended = oriel(
        "run", "-n", 2, "--mpi", host.name, *words, folder_of(host) / program, **environment
    )
    assert ended.returncode == 0, ended.stderr
    return ended


def test_each_epoch_of_a_trace_runs_its_course(host, tmp_path):
    trace = tmp_path / "trace"
    run(host, ORIEL_TRACE=str(trace), ORIEL_VM="0")
    lines = trace.read_text(encoding="utf-8").splitlines()
    told = [LINE.fullmatch(line) for line in lines]
    assert all(told), next(line for line, match in zip(lines, told) if not match)
    assert len({match["pid"] for match in told}) == 2
    # An epoch is known by its window, its kind and the number of its opening.
    steps = defaultdict(list)
    waits = defaultdict(list)
    for match in told:
        event, who, fields = match["event"], (match["pid"], match["window"]), match["rest"].split()
        kind, epoch = (next((f for f in fields if f.startswith(n)), "") for n in ("kind", "epoch"))
        if event.startswith("epoch_") and kind != "kind=fence":
            steps[(*who, kind, epoch)].append(event)
        if event.startswith("wait_"):
            waits[(*who, fields[-1])].append(event)
    assert waits and all(fields.startswith("wait=") for *_, fields in waits)
    for course in waits.values():
        assert set(course[1:-1]) <= {"wait_lasts"}
        assert (course[0], course[-1]) == ("wait_begun", "wait_ended")
    assert len(steps) > 100
    for course in steps.values():
        assert course[0] == "epoch_opened" and course[-1] == "epoch_completed"
        assert sorted(set(course) - {"epoch_deferred"}) == [
            "epoch_activated", "epoch_closed", "epoch_completed", "epoch_opened"
        ]  # fmt: skip
        assert len(course) == len(set(course))
    events = Counter(match["event"] for match in told)
    # Questions of flushes and unlocks are answered, and never issued.
    assert events["operation_done"] > 0 and events["operation_issued"] > 0
    assert any("answered kind=acknowledge" in line for line in lines)
    assert any("protocol=message" in line for line in lines)


def test_a_wait_for_a_request_is_told(host, tmp_path):
    trace = tmp_path / "trace"
    run(host, program="requests", ORIEL_TRACE=str(trace), ORIEL_VM="0")
    lines = trace.read_text(encoding="utf-8").splitlines()
    begun = sum("wait_begun for=request" in line for line in lines)
    assert begun > 0
    assert begun == sum("wait_ended for=request" in line for line in lines)


def test_waits_of_its_own_are_no_waits_for_requests(host, tmp_path):
    """Nobody calls MPI_Wait in this program. On Intel MPI Oriel does, to make a window."""
    trace = tmp_path / "trace"
    run(host, program="fence", ORIEL_TRACE=str(trace))
    told = trace.read_text(encoding="utf-8")
    assert "wait_begun for=fence" in told
    assert "wait_begun for=request" not in told


def test_a_trace_that_cannot_be_written_is_told(host):
    told = run(host, ORIEL_TRACE="/nowhere/trace").stderr
    assert "ORIEL_TRACE: The file /nowhere/trace cannot be opened" in told


def rows_of(told: str, title: str) -> dict[str, list[str]]:
    """The rows below a table's title, by their first cell."""
    lines = told.splitlines()
    start = next(index for index, line in enumerate(lines) if line.strip() == title)
    rows = {}
    for line in lines[start + 2 :]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) < 2:
            break
        rows[cells[0]] = cells[1:]
    return rows


def test_info_counts_what_all_ranks_did(host):
    told = run(host, "--info", ORIEL_VM="0").stderr
    assert "counts of 2 processes together" in told
    operations = rows_of(told, "operations by protocol")
    assert int(operations["message"][0].replace(",", "")) > 0
    epochs = rows_of(told, "epochs")
    assert int(epochs["lock"][0].replace(",", "")) > 100
    assert "unlock" in rows_of(told, "waits")
    assert "rules of MPI" not in told


@pytest.mark.hosts("mpich")
def test_info_counts_operations_on_detached_memory(host):
    for vm in ("1", "0"):
        told = run(host, "--info", program="dynamic", ORIEL_VM=vm).stderr
        rules = rows_of(told, "rules of MPI that the program has not kept")
        assert int(rules["operations on detached memory"][0].replace(",", "")) > 10


def test_without_info_nothing_is_printed(host):
    assert "counts of" not in run(host).stderr
