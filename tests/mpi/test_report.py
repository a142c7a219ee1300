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
from conftest import folder_of, oriel
from oriel.cli.report import report_on
from oriel.wait_states.aligned_records import machines_of
from oriel.wait_states.record import read_records
from oriel.wait_states.sync_points import bounds_between, points_by_machines
from paced_run import HOUR, TOLERANCE, Moment, Step, paced_run
from support.clock_change import change_clock_of_host
from test_python import PACKAGE, needs_packages

TURNS = 3
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


def pairs_of(nodes) -> tuple[range, range]:
    """The ranks that wait, and those that are late. No Early Fence between nodes: the late rank's
    agent carries out its puts while it works, sooner or later."""
    pairs = len(EXPECTED) - (nodes is not None)
    return range(pairs), range(pairs, 2 * pairs)


def play(job, host, folder, steps, turns: int, *words, nodes=None) -> None:
    """Runs `late` so that each wait has begun before the late ranks' work passes."""
    command = [folder_of(host) / "late", "1", str(turns), *map(str, words)]
    settings = {} if nodes else {"ORIEL_AGENT_INTERVAL": "0"}
    ranks = sum(map(len, pairs_of(nodes)))
    paced_run(job, host, command, ranks, folder, steps, settings, nodes)


def late_by_an_hour(nodes=None) -> Step:
    """All late ranks work, while all others wait for them."""
    waiting, late = pairs_of(nodes)
    return Step(HOUR, over=late, waiting=waiting)


def test_each_wait_has_its_name_and_its_cause(job, host, tmp_path):
    play(job, host, tmp_path, TURNS * [late_by_an_hour()], TURNS)
    table = report_on(tmp_path, all_waits=True)
    for rank, (pattern, call, window) in EXPECTED.items():
        rows = [row for row in rows_of(tmp_path) if str(rank) in row["waited"]]
        # The longest: there are fences that open an epoch, too.
        row = next(row for row in rows if (row["pattern"], row["call"]) == (pattern, call))
        if call != "MPI_Wait":  # which names no window
            assert row["window"] == window
        assert row["late"].keys() == {str(rank + len(EXPECTED))}, (table, row)
        assert row["count"] == TURNS and "late.cpp:" in row["place"], row
        assert row["waited"][str(rank)] == pytest.approx(TURNS * HOUR, rel=TOLERANCE), row
        assert f"{row['pattern']} " in table and row["call"] in table
        # The parts of its waits are no more than the waits.
        parts = sum(other["waited"][str(rank)] for other in rows if other["place"] == row["place"])
        assert parts == pytest.approx(TURNS * HOUR, rel=TOLERANCE), (table, rows)
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
    """Next to the hours for which ranks were late no other wait counts."""
    names = {(pattern, window) for pattern, _, window in EXPECTED.values()}
    for row in rows_of(folder):
        if row["seconds"] >= TURNS * HOUR * TOLERANCE:
            window = row["window"] or "late request"  # MPI_Wait names none
            assert (row["pattern"], window) in names, row


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
    words = ["sh", "-c", IN_TIME_NAMESPACE, folder_of(host) / "late", "1", "2"]
    paced_run(
        job, host, words, RANKS, tmp_path, 2 * [late_by_an_hour()], {"ORIEL_AGENT_INTERVAL": "0"}
    )
    assert "The clocks of 2 machines are aligned" in report_on(tmp_path)
    late = {
        row["window"]: row["late"] for row in rows_of(tmp_path) if row["pattern"] == "Late Post"
    }
    assert late["late post"].keys() == {"7"}


# Ranks whose call has a nonblocking form, and the others.
HIDING = (0, 1, 2, 3, 6)
BLOCKING = (4, 5)


def work_behind(hours: float, nodes=None) -> Step:
    """The work of the ranks that have waited. No late rank waits for them meanwhile."""
    return Step(hours * HOUR, over=pairs_of(nodes)[0], ready=Moment.nobody_waits)


# In the same calls, with nothing before them and work behind them.
@pytest.mark.hosts("mpich")
def test_ranks_in_time_wait_for_nobody(job, host, tmp_path):
    steps = 2 * [Step(0, over=pairs_of(None)[1]), work_behind(1)]
    play(job, host, tmp_path, steps, 2, 1)
    assert "No wait took 1 % of the run." in report_on(tmp_path)


# Hours of the work behind the call, in two turns: in the first one it covers a part of the wait, in
# the second one all of it and more.
WORK = (0.25, 2)
# Of a program's forms what the report of the blocking one says of the saving, and the ranks that
# are spared a wait.
FORMS = {"nonblocking": ("hidden", HIDING), "prompt": ("avoidable", (0, 1, 2, 3))}


def blocking_steps(nodes) -> list[Step]:
    turns = ((late_by_an_hour(nodes), work_behind(work, nodes)) for work in WORK)
    return [step for turn in turns for step in turn]


def nonblocking_steps(nodes) -> list[Step]:
    """The calls return while the late ranks work. In the first turn the ranks then wait for the
    rest of that."""
    waiting, late = pairs_of(nodes)
    hiding = [rank for rank in HIDING if rank in waiting]
    short, long = WORK
    return [
        Step(short * HOUR, over=hiding, working=late, waiting=BLOCKING),
        Step((1 - short) * HOUR, over=late, waiting=waiting),
        Step(0, over=BLOCKING),
        Step(HOUR, over=late, working=hiding, waiting=BLOCKING),
        Step((long - 1) * HOUR, over=waiting),
    ]


def prompt_steps(nodes) -> list[Step]:
    """The late ranks of some pairs have made their call when they begin to work."""
    waiting, late = pairs_of(nodes)
    prompt = FORMS["prompt"][1]
    others = [rank for rank in waiting if rank not in prompt]
    first = Step(HOUR, over=late, working=prompt, waiting=others)
    return [step for work in WORK for step in (first, work_behind(work, nodes))]


STEPS = {"nonblocking": nonblocking_steps, "prompt": prompt_steps}


def check_promises(job, host, folder, form: str, nodes=None) -> None:
    """What the report of a run says of the saving, a run in the other form saves."""
    before, after = folder / "before", folder / "after"
    play(job, host, before, blocking_steps(nodes), len(WORK), 1, nodes=nodes)
    play(job, host, after, STEPS[form](nodes), len(WORK), 1, form, nodes=nodes)
    for each in (before, after):
        report_on(each)
    what, ranks = FORMS[form]
    for rank in set(ranks) & set(pairs_of(nodes)[0]):
        _, call, window = EXPECTED[rank]
        own = [
            [row for row in rows_of(each) if row["waited"].keys() == {str(rank)}]
            for each in (before, after)
        ]
        promised = sum(
            row[what] or 0 for row in own[0] if (row["call"], row["window"]) == (call, window)
        )
        waited = [sum(row["seconds"] for row in rows) for rows in own]
        assert waited[0] == pytest.approx(len(WORK) * HOUR, rel=TOLERANCE), own
        assert promised == pytest.approx(waited[0] - waited[1], rel=TOLERANCE), own


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
    nodes = three_nodes.first(2)
    play(job, host, same, 2 * [late_by_an_hour(nodes)], 2, nodes=nodes)
    shutil.copytree(same, changed)
    records, _ = read_records(same)
    begun, ended = min(r.begun for r in records), max(r.ended for r in records)

    def far(time: int) -> int:
        return time + 3_700_000_000_000 + (time - begun) * 40 // 10**6

    change_clock_of_host(changed, records[-1].host, b"another", far)
    machine = machines_of(read_records(changed)[0])[1]
    assert machine.error < 1e9 * HOUR * TOLERANCE
    for time in (begun, ended):
        assert abs(machine.map(far(time)) - time) <= machine.error
    report_on(same)
    assert "The clocks of 2 machines are aligned to within" in report_on(changed)
    longest = [
        {
            (row["pattern"], row["call"], row["place"]): row
            for row in rows_of(folder)
            if row["seconds"] > HOUR
        }
        for folder in (same, changed)
    ]
    assert longest[0].keys() == longest[1].keys()
    for key, row in longest[0].items():
        other = longest[1][key]
        assert row["waited"].keys() == other["waited"].keys()
        error = (row["count"] * machine.error + 1e-4 * row["seconds"]) / 1e9
        assert row["seconds"] == pytest.approx(other["seconds"], abs=error)
    for rank, late in zip(*pairs_of(nodes)):
        pattern, call, _ = EXPECTED[rank]
        (row,) = (
            row
            for key, row in longest[1].items()
            if key[:2] == (pattern, call) and str(rank) in row["waited"]
        )
        assert row["late"].keys() == {str(late)}


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


def test_the_time_in_messages_of_the_host_is_counted(job, host, tmp_path):
    """Barriers before each call are counted, too, but not timed by the program."""
    command = [folder_of(host) / "recorded", "messages"]
    status, output = job.run_command(host, command, 2, {"ORIEL_REPORT": str(tmp_path / "report")})
    assert status == 0, output
    report_on(tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    timed = sum(map(float, re.findall(r"seconds: ([0-9.]+)", output)))
    assert timed > 0.5
    assert timed / 2 < report["host_seconds"] < 2 * report["seconds"]
    assert report["host_share"] > 0
    assert "messages and collectives, which Oriel leaves" in " ".join(report["notes"])


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
        assert "Wait at Window Create" in {row["pattern"] for row in rows_of(tmp_path / name)}
    again = oriel("report", "--all", tmp_path / "oriel-report")
    assert again.returncode == 0 and "Wait at Window Create" in again.stdout


@pytest.mark.hosts("mpich")
def test_an_archive_of_a_run(job, host, tmp_path):
    """Written with PyPI's library, read by it and by Debian's."""
    otf2 = pytest.importorskip("otf2")
    play(job, host, tmp_path, 2 * [late_by_an_hour()], 2)
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
    made = {
        row["window"]
        for row in rows_of(tmp_path / "oriel-report")
        if row["pattern"] == "Wait at Window Create"
    }
    assert made == {EXPECTED[rank][2] for rank in range(6)}


# As support/paced.hpp.
PACED = """
import os
import time
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
pace = os.environ["ORIEL_TEST_PACE"]
def mark(what):
    os.close(os.open(f"{pace}/{what}-{rank}-1", os.O_CREAT | os.O_EXCL))
def work():
    mark("work")
    while os.path.exists(f"{pace}/work-{rank}-1"):
        time.sleep(0.001)
"""

ABORTS = f"""{PACED}
win = MPI.Win.Allocate(8, comm=MPI.COMM_WORLD)
win.Fence()
work() if rank == 0 else mark("calling")
win.Fence()
MPI.COMM_WORLD.Abort(3)
"""


NOTIFIES_LATE = f"""{PACED}
from array import array
import oriel
win = MPI.Win.Allocate(8, comm=MPI.COMM_WORLD)
win.Set_name("notified")
win.Lock_all()
if rank == 0:
    request = oriel.Notify_init(win, 1, 7, 1)
    request.Start()
    mark("calling")
    request.Wait()
    request.Free()
else:
    work()
    oriel.Put_notify(win, [array("i", [1]), MPI.INT], 0, tag=7)
win.Unlock_all()
win.Free()
"""


@needs_packages
@pytest.mark.hosts("mpich")
def test_a_wait_for_a_request_of_notifications_has_its_sender(job, host, tmp_path):
    words = [sys.executable, "-c", NOTIFIES_LATE]
    settings = {**PACKAGE, "MPI4PY_MPIABI": host.kind.abi}
    steps = [Step(HOUR, over=[1], waiting=[0])]
    paced_run(job, host, words, 2, tmp_path, steps, settings)
    report_on(tmp_path)
    (row,) = (row for row in rows_of(tmp_path) if row["pattern"] == "Wait for Notification")
    assert (row["window"], row["late"].keys()) == ("notified", {"1"})
    assert row["waited"].keys() == {"0"}
    assert row["seconds"] == pytest.approx(HOUR, rel=TOLERANCE)


@pytest.mark.hosts("mpich")
def test_ranks_that_abort_print_one_table(job, host, tmp_path):
    """All wait for the one that prints it."""
    words = ["env", "-C", tmp_path, sys.executable, "-c", ABORTS]
    settings = {"ORIEL_REPORT": "1", "MPI4PY_MPIABI": host.kind.abi}
    folder = tmp_path / "oriel-report"
    steps = [Step(0, over=[0], waiting=[1, 2])]
    output = paced_run(job, host, words, 3, folder, steps, settings, fails=True)
    assert output.count("oriel: waits of 3 ranks") == 1, output
    assert "Ranks 0, 1, 2 did not end MPI" in output, output
    late = [row["late"] for row in rows_of(folder) if row["pattern"] == "Wait at Fence"]
    assert "0" in late[0], late


HANGS = f"""{PACED}
world = MPI.COMM_WORLD
win = MPI.Win.Allocate(8, comm=world)
if rank == 0:
    win.Start(world.group.Incl([1, 2]))
    win.Put(bytearray(8), 1)
    win.Put(bytearray(8), 2)
    mark("calling")
    win.Complete()
elif rank == 1:
    win.Post(world.group.Incl([0]))
    mark("called")
    time.sleep(600)
else:
    work()
    world.Abort(3)
"""


@pytest.mark.hosts("mpich")
def test_of_several_targets_the_one_that_never_posts_is_late(job, host, tmp_path):
    words, settings = [sys.executable, "-c", HANGS], {"MPI4PY_MPIABI": host.kind.abi}

    def lasts(moment: Moment) -> bool:
        """The rank has recorded that it waits for rank 2 alone, so rank 1 has posted."""
        return any(entry.rank == 2 for entry in moment.entries(0, ("wait_lasts",)))

    steps = [Step(0, over=[2], waiting=[0], returned=[1], ready=lasts)]
    output = paced_run(job, host, words, 3, tmp_path, steps, settings, fails=True)
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
