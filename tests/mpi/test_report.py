# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: each kind of wait, how long it took, and for whom it was (B1)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from conftest import LOST_PROCESSOR, folder_of, oriel, until_times_agree
from oriel.cli.report import report_on
from oriel.wait_states.aligned_records import machines_of
from oriel.wait_states.record import read_records
from oriel.wait_states.sync_points import bounds_between, points_by_machines
from support.clock_change import change_clock_of_host
from test_python import PACKAGE, needs_packages

MILLISECONDS, TURNS = 40, 4
# By the rank that waits: the wait state, the call, the window.
EXPECTED = {
    0: ("Late Post", "MPI_Win_complete", "late post"),
    1: ("Late Complete", "MPI_Win_wait", "late complete"),
    2: ("Wait at Fence", "MPI_Win_fence", "late fence"),
    3: ("Late Unlock", "MPI_Win_unlock", "late unlock"),
    4: ("Wait for Notification", "ORIEL_Notify_probe", "late notification"),
    5: ("Late Post", "MPI_Wait", "late request"),
    6: ("Early Fence", "MPI_Win_fence", "early fence"),
}
RANKS = 2 * len(EXPECTED)


def rows_of(folder) -> list[dict]:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]


def measured(job, host, folder, *words, nodes=None) -> dict[int, float]:
    """Seconds, by the rank that waits."""
    command = [folder_of(host) / "late", *map(str, words)]
    status, output = job.run_command(host, command, RANKS, {"ORIEL_REPORT": str(folder)}, nodes)
    assert status == 0, output
    found = {int(rank): float(s) for rank, s in re.findall(r"rank (\d+) waited ([\d.]+)", output)}
    assert found.keys() == EXPECTED.keys()
    return found


def test_each_wait_has_its_name_and_its_cause(job, host, tmp_path):
    in_call = measured(job, host, tmp_path, MILLISECONDS, TURNS)
    table = report_on(tmp_path, all_waits=True)
    for rank, (pattern, call, window) in EXPECTED.items():
        rows = [row for row in rows_of(tmp_path) if str(rank) in row["waited"]]
        # The longest: there are fences that open an epoch, too.
        row = next(row for row in rows if (row["pattern"], row["call"]) == (pattern, call))
        if call != "MPI_Wait":  # which names no window
            assert row["window"] == window
        assert row["late"].keys() == {str(rank + len(EXPECTED))}, (table, row)
        assert row["count"] == TURNS and "late.cpp:" in row["place"], row
        # The program measures around the call. On a busy machine the rank may lose its processor
        # before it begins to wait, or after.
        waited = row["waited"][str(rank)]
        assert waited <= 1.001 * in_call[rank], (table, row)
        assert waited >= 0.95 * in_call[rank] - TURNS * LOST_PROCESSOR, (table, row)
        assert f"{row['pattern']} " in table and row["call"] in table
        # The parts of its waits are no more than the waits.
        parts = sum(other["waited"][str(rank)] for other in rows if other["place"] == row["place"])
        assert parts <= 1.001 * in_call[rank], (table, rows)
    check_making(tmp_path)
    check_nothing_else(tmp_path)
    check_empty_epochs(tmp_path)


def check_making(folder) -> None:
    """Of two ranks that make a window one comes last."""
    late = {
        row["window"]: row["late"].keys()
        for row in rows_of(folder)
        if (row["pattern"], row["call"]) == ("Wait at Window Create", "MPI_Win_allocate")
    }
    for rank, (_, _, window) in EXPECTED.items():
        assert len(late[window]) == 1 and late[window] < {str(rank), str(rank + len(EXPECTED))}


def check_nothing_else(folder) -> None:
    """But for a rank that loses its processor, and ranks that are started one after the other."""
    names = {(pattern, window) for pattern, _, window in EXPECTED.values()}
    for row in rows_of(folder):
        if row["share"] >= 0.01 and row["seconds"] >= TURNS * LOST_PROCESSOR:
            window = row["window"] or "late request"  # MPI_Wait names none
            known = row["pattern"] == "Wait at Window Create" or (row["pattern"], window) in names
            assert known, row


def check_empty_epochs(folder) -> None:
    """What a target's exposure epochs have moved is known from the origin's record."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    found = {(row["window"], row["call"]): row for row in report["empty_epochs"]}
    assert {name: (row["empty"], row["ended"]) for name, row in found.items()} == {
        ("late complete", "MPI_Win_complete"): (TURNS, TURNS),
        ("late complete", "MPI_Win_wait"): (TURNS, TURNS),
        ("late fence", "MPI_Win_fence"): (TURNS, TURNS),
        ("early fence", "MPI_Win_fence"): (TURNS - 1, 2 * TURNS - 1),
    }
    row = found["late fence", "MPI_Win_fence"]
    assert row["doubled"] == TURNS - 1 and "late_fence at late.cpp:" in row["place"]
    lost = sum(each["seconds"] for each in report["rows"] if each["place"] == row["place"])
    assert row["seconds"] >= 0.999 * lost > 0


# A container may have a clock of its own.
IN_TIME_NAMESPACE = """
if [ "$PMI_RANK" -ge 7 ]; then exec unshare --time --monotonic 1000 --fork "$0" "$@"; fi
exec "$0" "$@"
"""


@pytest.mark.hosts("mpich")
def test_ranks_of_another_time_namespace_have_another_clock(job, host, tmp_path):
    unshared = ["unshare", "--time", "--monotonic", "1000", "--fork", "true"]
    if subprocess.run(unshared, capture_output=True, timeout=60, check=False).returncode != 0:
        pytest.skip("No time namespace can be made here.")
    words = ["sh", "-c", IN_TIME_NAMESPACE, folder_of(host) / "late", "40", "2"]
    status, output = job.run_command(host, words, RANKS, {"ORIEL_REPORT": str(tmp_path)})
    assert status == 0, output
    assert "The clocks of 2 machines are aligned" in report_on(tmp_path)
    late = {
        row["window"]: row["late"] for row in rows_of(tmp_path) if row["pattern"] == "Late Post"
    }
    assert late["late post"].keys() == {"7"}


# In the same calls, with nothing before them and work behind them.
@pytest.mark.hosts("mpich")
def test_ranks_in_time_wait_for_nobody(job, host, tmp_path):
    measured(job, host, tmp_path, 0, 2, 100)
    assert "No wait took 1 % of the run." in report_on(tmp_path)


# Of a program's other form: what of a row promises its saving, and which ranks it spares a wait.
FORMS = {"nonblocking": ("hidden", (0, 1, 2, 3, 6)), "prompt": ("avoidable", (0, 1, 2, 3))}
# Milliseconds. In the first of two turns the work covers a part of the wait, in the second all of
# it and more.
LATE, WORK, WORKED_TURNS = 80, 20, 2


def promised(folder, rank: int, what: str) -> float:
    """Seconds, of the call in which the rank waits for its peer."""
    _, call, window = EXPECTED[rank]
    return sum(
        row[what] or 0
        for row in rows_of(folder)
        if (row["call"], row["window"]) == (call, window) and row["waited"].keys() == {str(rank)}
    )


def broken_promises(job, host, folder, form: str, nodes) -> list[tuple]:
    """(rank, what the record of a run promises, what a run in the other form saves)."""
    folder.mkdir()
    before = measured(job, host, folder / "before", LATE, WORKED_TURNS, WORK, nodes=nodes)
    after = measured(job, host, folder / "after", LATE, WORKED_TURNS, WORK, form, nodes=nodes)
    report_on(folder / "before")
    what, ranks = FORMS[form]
    pairs = [
        (rank, promised(folder / "before", rank, what), before[rank] - after[rank])
        for rank in ranks
    ]
    most_lost = WORKED_TURNS * LOST_PROCESSOR
    return [
        (rank, promise, saved)
        for rank, promise, saved in pairs
        if abs(promise - saved) > 0.2 * saved + most_lost
    ]


def check_promises(job, host, folder, form: str, nodes=None) -> None:
    until_times_agree(lambda number: broken_promises(job, host, folder / f"{number}", form, nodes))


def test_what_a_nonblocking_call_saves_is_known(job, host, tmp_path):
    check_promises(job, host, tmp_path, "nonblocking")


@pytest.mark.hosts("mpich")
def test_what_it_saves_between_nodes_is_known(job, host, tmp_path, three_nodes):
    check_promises(job, host, tmp_path, "nonblocking", three_nodes.first(2))


# Promises come from the steps of epochs, which are the same on all hosts.
@pytest.mark.hosts("mpich")
def test_what_a_prompt_call_of_the_late_rank_saves_is_known(job, host, tmp_path):
    check_promises(job, host, tmp_path, "prompt")


# The steps that clocks are compared by are the same on all hosts.
@pytest.mark.hosts("mpich")
def test_the_clocks_of_two_machines(job, host, tmp_path, three_nodes):
    """Both nodes have one clock. With another one on the second the report is the same."""
    same, changed = tmp_path / "same", tmp_path / "changed"
    same.mkdir()
    measured(job, host, same, MILLISECONDS, 2, nodes=three_nodes.first(2))
    shutil.copytree(same, changed)
    records, _ = read_records(same)
    begun, ended = min(r.begun for r in records), max(r.ended for r in records)

    def far(time: int) -> int:
        return time - 3_700_000_000_000 + (time - begun) * 40 // 10**6

    change_clock_of_host(changed, records[-1].host, b"another", far)
    machine = machines_of(read_records(changed)[0])[1]
    assert machine.error < 1e6 * MILLISECONDS / 4
    for time in (begun, ended):
        assert abs(machine.map(far(time)) - time) <= machine.error
    report_on(same)
    assert "The clocks of 2 machines are aligned to within" in report_on(changed)
    longest = [
        {
            (row["pattern"], row["call"], row["place"]): row
            for row in rows_of(folder)
            if row["seconds"] > MILLISECONDS / 1000
        }
        for folder in (same, changed)
    ]
    assert longest[0].keys() == longest[1].keys()
    for key, row in longest[0].items():
        other = longest[1][key]
        assert row["waited"].keys() == other["waited"].keys()
        error = (row["count"] * machine.error + 1e-4 * row["seconds"]) / 1e9
        assert row["seconds"] == pytest.approx(other["seconds"], abs=error)
    for rank, (pattern, call, _) in EXPECTED.items():
        (row,) = (
            row
            for key, row in longest[1].items()
            if key[:2] == (pattern, call) and str(rank) in row["waited"]
        )
        assert row["late"].keys() == {str(rank + len(EXPECTED))}


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "pscw"])
def test_clocks_are_compared_by_steps_in_their_order(job, host, tmp_path, three_nodes, program):
    """Both nodes have one clock: each bound of the offset from the one to the other has 0 on its
    side."""
    settings = {"ORIEL_REPORT": str(tmp_path)}
    job.expect_ok(host, program, 4, settings, three_nodes.first(2))
    records = [replace(record, boot=record.host) for record in read_records(tmp_path)[0]]
    hosts = sorted({record.boot for record in records})
    bounds = bounds_between(points_by_machines(records)[tuple(hosts)], int)
    for upper in (False, True):
        offsets = [bound.offset for bound in bounds if bound.upper == upper]
        assert len(offsets) > 100
        assert min(offsets) > 0 if upper else max(offsets) < 0


@pytest.mark.hosts("mpich")
def test_a_killed_rank_leaves_its_record(job, host, tmp_path):
    """Two ranks wait for one another until they are killed."""
    folder = tmp_path / "record"
    folder.mkdir()
    settings = {"ORIEL_REPORT": str(folder), "ORIEL_STALL": "1"}
    words = [folder_of(host) / "late", tmp_path / "never", "circle"]
    with job.start(host, words, 2, settings) as run:
        limit = threading.Timer(60, os.killpg, (run.pid, signal.SIGKILL))
        limit.start()
        told = next((line for line in run.stdout if "wait for one another" in line), "")
        limit.cancel()
        os.killpg(run.pid, signal.SIGKILL)
    assert told
    assert "Ranks 0, 1 did not end MPI" in report_on(folder)
    waits = [row for row in rows_of(folder) if row["call"] == "MPI_Win_fence"]
    assert sum(row["seconds"] for row in waits) > 0.9  # of who said that it had waited for a second
    assert {rank for row in waits for rank in row["late"]} == {"0", "1"}


@pytest.mark.hosts("mpich")
def test_the_command_reports(host, tmp_path):
    """Each run has a folder of its own; the table comes after the program's output."""
    program = folder_of(host) / "late"
    run = ("run", "-n", 12, "--mpi", host.name, "--report", program, 5, 1)
    for name in ("oriel-report", "oriel-report-2"):
        ended = oriel(*run, before=["env", "-C", str(tmp_path)])
        assert ended.returncode == 0, ended.stderr
        assert "ok: " in ended.stdout
        assert "oriel: waits of 12 ranks" in ended.stderr
        assert f"the report is in {tmp_path / name}" in ended.stderr
        assert "Late Post" in {row["pattern"] for row in rows_of(tmp_path / name)}
    again = oriel("report", "--all", tmp_path / "oriel-report")
    assert again.returncode == 0 and "Wait for Notification" in again.stdout


@pytest.mark.hosts("mpich")
def test_an_archive_of_a_run(job, host, tmp_path):
    """Written with PyPI's library, read by it and by Debian's."""
    otf2 = pytest.importorskip("otf2")
    measured(job, host, tmp_path, 10, 2)
    report_on(tmp_path, otf2=True)
    archive = tmp_path / "otf2" / "traces.otf2"
    waited, locks = Counter(), defaultdict(list)
    with otf2.reader.open(str(archive)) as trace:
        for location, event in trace.events:
            rank = location.name.removeprefix("rank ")
            if isinstance(event, (otf2.events.Enter, otf2.events.Leave)):
                assert event.region.source_file == "late.cpp", event.region
                entered = isinstance(event, otf2.events.Enter)
                waited[rank, event.region.name] += -event.time if entered else event.time
            elif "Lock" in type(event).__name__:
                locks[rank, event.win.name].append((type(event).__name__, event.remote))
    expected = Counter()
    for row in rows_of(tmp_path):
        for rank, seconds in row["waited"].items():
            expected[rank, row["call"]] += seconds
    assert {("0", "MPI_Win_complete"), ("5", "MPI_Wait")} < expected.keys()
    assert {key: time / 1e9 for key, time in waited.items()} == pytest.approx(expected)
    turn = [(f"Rma{step}Lock", 1) for step in ("Request", "Acquire", "Release")]
    assert locks["3", "late unlock"] == locks["10", "late unlock"] == 2 * turn
    if shutil.which("otf2-print"):
        words = ["otf2-print", "--show-global-defs", archive]
        printed = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        windows = re.findall(r"^RMA_WIN .* Name: \"([^\"]+)", printed.stdout, re.M)
        assert sorted(windows) == sorted(window for _, _, window in EXPECTED.values())
        words[1] = "--location=3"
        printed = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        assert printed.stdout.count("RMA_ACQUIRE_LOCK") == 2, printed.stdout
        assert "ERROR" not in printed.stdout + printed.stderr


def test_under_another_launcher(job, host, tmp_path):
    """Each rank records below its current folder, and rank 0 prints the table when MPI ends: what
    the others record is complete by then."""
    words = ["env", "-C", tmp_path, folder_of(host) / "late", "5", "1"]
    status, output = job.run_command(host, words, 12, {"ORIEL_REPORT": "1"})
    assert status == 0, output
    assert output.count("oriel: waits of 12 ranks") == 1, output
    assert "did not end" not in output, output
    assert len(rows_of(tmp_path / "oriel-report")) >= len(EXPECTED)


ABORTS = """
import time
from mpi4py import MPI
win = MPI.Win.Allocate(8, comm=MPI.COMM_WORLD)
win.Fence()
time.sleep(0.2 if win.group.rank == 0 else 0)
win.Fence()
MPI.COMM_WORLD.Abort(3)
"""


NOTIFIES_LATE = """
import time
from array import array
from mpi4py import MPI
import oriel
win = MPI.Win.Allocate(8, comm=MPI.COMM_WORLD)
win.Set_name("notified")
win.Lock_all()
if win.group.rank == 0:
    request = oriel.Notify_init(win, 1, 7, 1)
    request.Start()
    request.Wait()
    request.Free()
else:
    time.sleep(0.2)
    oriel.Put_notify(win, [array("i", [1]), MPI.INT], 0, tag=7)
win.Unlock_all()
win.Free()
"""


@needs_packages
@pytest.mark.hosts("mpich")
def test_a_wait_for_a_request_of_notifications_has_its_sender(job, host, tmp_path):
    words = [sys.executable, "-c", NOTIFIES_LATE]
    settings = {"ORIEL_REPORT": str(tmp_path), **PACKAGE, "MPI4PY_MPIABI": host.kind.abi}
    status, output = job.run_command(host, words, 2, settings)
    assert status == 0, output
    report_on(tmp_path)
    (row,) = (row for row in rows_of(tmp_path) if row["pattern"] == "Wait for Notification")
    assert (row["window"], row["late"].keys()) == ("notified", {"1"})
    assert row["waited"].keys() == {"0"} and row["seconds"] > 0.1


@pytest.mark.hosts("mpich")
def test_ranks_that_abort_print_one_table(job, host, tmp_path):
    """All wait for the one that prints it."""
    words = ["env", "-C", tmp_path, sys.executable, "-c", ABORTS]
    settings = {"ORIEL_REPORT": "1", "MPI4PY_MPIABI": host.kind.abi}
    status, output = job.run_command(host, words, 3, settings)
    assert status != 0
    assert output.count("oriel: waits of 3 ranks") == 1, output
    assert "Wait at Fence" in output and "Ranks 0, 1, 2 did not end MPI" in output, output


HANGS = """
import time
from mpi4py import MPI
world = MPI.COMM_WORLD
win = MPI.Win.Allocate(8, comm=world)
if world.rank == 0:
    win.Start(world.group.Incl([1, 2]))
    win.Put(bytearray(8), 1)
    win.Put(bytearray(8), 2)
    win.Complete()
elif world.rank == 1:
    win.Post(world.group.Incl([0]))
    time.sleep(60)
else:
    time.sleep(1)
    world.Abort(3)
"""


@pytest.mark.hosts("mpich")
def test_of_several_targets_the_one_that_never_posts_is_late(job, host, tmp_path):
    settings = {"ORIEL_REPORT": str(tmp_path), "MPI4PY_MPIABI": host.kind.abi}
    status, output = job.run_command(host, [sys.executable, "-c", HANGS], 3, settings)
    assert status != 0
    report_on(tmp_path)
    late = [row["late"] for row in rows_of(tmp_path) if row["call"] == "MPI_Win_complete"]
    assert [list(each) for each in late] == [["2"]], output


@pytest.mark.hosts("mpich")
def test_without_the_command(job, host, tmp_path):
    """A library that stands alone says where the records are."""
    library = tmp_path / "alone" / host.library.name
    library.parent.mkdir()
    shutil.copy(host.library, library)
    words = ["env", "-C", tmp_path, f"LD_PRELOAD={library}", "PATH=/nowhere"]
    words = ["/usr/bin/env", *words[1:], folder_of(host) / "late", "5", "1"]
    status, output = job.run_command(host, words, 12, {"ORIEL_REPORT": "1"})
    assert status == 0, output
    folder = tmp_path / "oriel-report"
    assert f"recorded in {folder}; `oriel report {folder}` prints them." in output, output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "There is no folder"),
        ({}, "No rank has recorded anything"),
        ({"rank-0.record": b"hello"}, "is no record of Oriel's"),
        ({"rank-0.record": b"orielrec" + bytes([9]) + bytes(4090)}, "another version of Oriel"),
    ],
)
def test_what_is_no_record(tmp_path, content, words):
    folder = tmp_path / "folder"
    if content is not None:
        folder.mkdir()
        for name, data in content.items():
            (folder / name).write_bytes(data)
    ended = oriel("report", folder)
    assert ended.returncode == 1 and words in ended.stderr, ended.stderr
