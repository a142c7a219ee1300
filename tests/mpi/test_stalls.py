# SPDX-License-Identifier: BSD-3-Clause
"""A rank that waits too long says in which call and where, for whom, and what those do (B2)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest
from conftest import LIMIT_SECONDS, folder_of, patience
from paced_run import Moment, Step, paced_run
from test_unsupported import compile_c

HEAD = re.compile(
    r"oriel: rank (\d+) of MPI_COMM_WORLD \(process \d+\) on \S+ has waited for (\d+) s in (\w+)\."
)
# By the rank that waits: the call, and what it waits for.
EXPECTED = {
    0: ("MPI_Win_complete", "late post", "for rank 1 to post. That is rank 6 "),
    1: ("MPI_Win_wait", "late complete", "for rank 1 to complete its access. That is rank 7 "),
    2: ("MPI_Win_fence", "late fence", "for rank 1 to enter the fence. That is rank 8 "),
    3: ("MPI_Win_unlock", "late unlock", "the lock of rank 1, which rank 1 holds. That is rank 9 "),
    4: ("ORIEL_Notify_probe", "late notification", "a notification of rank 1. That is rank 10 "),
    5: ("MPI_Wait", "late request", "for rank 1 to post. That is rank 11 "),
}

# Oriel measures waits by the monotonic clock, and sleeps for spans of time, which stay as they are.
FAST_CLOCK = """\
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  const long failed = syscall(SYS_clock_gettime, clock, now);
  if (failed || clock != CLOCK_MONOTONIC) return (int)failed;
  const long long nanoseconds = 60 * (now->tv_sec * 1000000000LL + now->tv_nsec);
  now->tv_sec = nanoseconds / 1000000000;
  now->tv_nsec = nanoseconds % 1000000000;
  return 0;
}
"""


def told(
    job, host, words, ranks, complete, settings=None, when_complete=None, program="late", nodes=None
) -> str:
    """What a run prints until `complete` finds all in it; then `when_complete` is called, and the
    run has to end well, or it is ended where there is nothing to call."""
    command = [folder_of(host) / program, *words]
    settings = {"ORIEL_STALL": "1", **(settings or {})}
    with job.start(host, command, ranks, settings, nodes) as run:
        seconds = patience(nodes) * LIMIT_SECONDS
        limit = threading.Timer(seconds, os.killpg, (run.pid, signal.SIGKILL))
        limit.start()
        output = ""
        seen = False
        try:
            for line in run.stdout:
                output += line
                if not seen and complete(output, run):
                    seen = True
                    if when_complete is None:
                        break
                    when_complete()
        finally:
            limit.cancel()
            limit.join()
            if not seen or when_complete is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert seen, output[-4000:]
    if when_complete:
        assert run.returncode == 0 and "ok: " in output, output[-4000:]
    return output


def reports_in(output: str) -> dict[int, str]:
    """The last report of each rank."""
    begins = [*HEAD.finditer(output)]
    ends = [match.start() for match in begins[1:]] + [len(output)]
    return {int(match[1]): output[match.start() : end] for match, end in zip(begins, ends)}


def complete(output, _) -> bool:
    """A report comes as a whole, but for what the launcher makes of it."""
    return output.count("That is rank") >= len(EXPECTED)


def test_each_wait_says_for_whom(job, host, tmp_path):
    over = tmp_path / "over"
    output = told(job, host, [over], 12, complete, when_complete=over.touch)
    reports = reports_in(output)
    assert reports.keys() == EXPECTED.keys(), output  # a late rank is in no wait
    for rank, (call, window, step) in EXPECTED.items():
        report = reports[rank]
        assert HEAD.match(report)[3] == call, report
        assert f'on window "{window}", in which this is rank 0 of 2' in report, report
        assert step in report, report
        assert "is in no call of Oriel's that waits" in report, report
        assert "wait for one another" not in report, report
    assert len(HEAD.findall(output)) == len(EXPECTED), "each wait says so once"


# How a call site is found has nothing to do with the host.
@pytest.mark.hosts("mpich")
def test_the_call_site_is_the_line_of_the_call(job, host, tmp_path):
    over = tmp_path / "over"
    reports = reports_in(told(job, host, [over], 12, complete, when_complete=over.touch))
    source = Path(__file__).with_name("late.cpp").read_text(encoding="utf-8").splitlines()
    for rank, (call, *_) in EXPECTED.items():
        command = re.search(r"the line: (addr2line -e \S+ 0x[0-9a-f]+)\n", reports[rank])[1]
        answer = subprocess.run(
            command.split(), capture_output=True, text=True, check=True, timeout=60
        ).stdout
        line = re.search(r"late\.cpp:(\d+)", answer)
        assert line and f"{call}(" in source[int(line[1]) - 1], (command, answer)


def report_of_one(job, host, tmp_path, form, seen) -> str:
    """The report of the only rank of two that makes a call on a window; the other one is late."""
    over = tmp_path / "over"
    output = told(job, host, [over, form], 2, lambda out, _: seen in out, when_complete=over.touch)
    (report,) = reports_in(output).values()
    return report


@pytest.mark.hosts("mpich", "openmpi")
def test_a_window_that_not_all_make(job, host, tmp_path):
    report = report_of_one(job, host, tmp_path, "making", "is not known")
    assert HEAD.match(report)[3] == "MPI_Win_allocate", report
    assert "All ranks of the communicator have to make this call." in report, report


# Open MPI lets one thread of a process advance its traffic, and the others sleep.
@pytest.mark.hosts("mpich", "openmpi")
def test_a_window_that_not_all_make_beside_another_thread(job, host, tmp_path):
    report = report_of_one(job, host, tmp_path, "beside", "is not known")
    assert HEAD.match(report)[3] == "MPI_Win_allocate", report


# The wait is ours on every host.
@pytest.mark.hosts("mpich")
def test_a_window_that_not_all_free(job, host, tmp_path):
    report = report_of_one(job, host, tmp_path, "freeing", "That is rank")
    assert HEAD.match(report)[3] == "MPI_Win_free", report
    assert 'on window "freed", in which this is rank 0 of 2, it waits' in report, report
    assert "for rank 1 to make this call. That is rank 1 of MPI_COMM_WORLD" in report, report
    assert "fence" not in report, report


@pytest.mark.hosts("mpich")
def test_ranks_that_wait_for_one_another_are_told(job, host, tmp_path):
    output = told(
        job, host, [tmp_path / "never", "circle"], 2, lambda out, _: "wait for one another" in out
    )
    told_by = re.search(
        r"on window \"(?:one|two)\".*\n    for rank (\d) to enter the fence. That is rank \1 of "
        r"MPI_COMM_WORLD \(process \d+\), which has waited in a fence for \d+ s, for rank (\d) of",
        output,
    )
    assert told_by and {told_by[1], told_by[2]} == {"0", "1"}, output
    assert re.search(
        r"so that none can go on: rank (\d) of MPI_COMM_WORLD .*, and this one", output
    )


@pytest.mark.hosts("mpich")
def test_locks_in_no_order_are_told(job, host):
    """Each of two ranks holds the lock that the other one waits for (E18)."""
    output = told(
        job,
        host,
        ["unordered"],
        2,
        lambda out, _: "wait for one another" in out,
        program="lock_circle",
    )
    assert re.search(r"for the lock of rank ([01]), which rank \1 holds", output), output
    assert 'on window "first"' in output


@pytest.mark.hosts("mpich")
def test_the_lock_that_was_asked_for_earlier_is_told(job, host):
    """The wait is on one window, and for a lock of another one (E18)."""
    output = told(
        job,
        host,
        ["earlier"],
        2,
        lambda out, _: "which rank 1 holds" in out,
        program="lock_circle",
    )
    assert re.search(
        r'in MPI_Win_unlock\.\n(?:.*\n)?  on window "second", .*\n'
        r"    for a lock that it asked for earlier, before it requests that of rank 1\.\n"
        r'  on window "first", .*\n    for the lock of rank 1, which rank 1 holds\.',
        output,
    ), output


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    ("form", "call"), [("others", "MPI_Wait"), ("overtaken", "MPI_Win_complete")]
)
def test_who_waits_for_others_is_in_no_circle(job, host, tmp_path, form, call):
    """Rank 1 waits for rank 0, and has to post for an epoch of rank 0's; that waits for rank 2,
    which makes no call."""
    over = tmp_path / "over"

    def both(output, _):
        return output.count("which has waited") >= 1 and len(reports_in(output)) == 2

    settings = {"ORIEL_STALL": "2"}
    output = told(job, host, [over, form], 3, both, settings, when_complete=over.touch)
    reports = reports_in(output)
    assert HEAD.match(reports[0])[3] == call and "for rank 2 to post" in reports[0]
    assert re.search(r"rank 2 .* for \d+ s at least it has made no call on a window", reports[0])
    assert HEAD.match(reports[1])[3] == "MPI_Win_fence"
    assert "for rank 0 to enter the fence" in reports[1]
    assert "wait for one another" not in output


@pytest.mark.hosts("mpich")
def test_who_puts_to_another_node_is_not_quiet(job, host, tmp_path, three_nodes):
    over = tmp_path / "over"
    output = told(
        job,
        host,
        [over, "putting"],
        4,
        lambda out, _: "That is rank 1" in out,
        {"ORIEL_STALL": "3"},
        over.touch,
        nodes=three_nodes.first(2),
    )
    report = reports_in(output)[0]
    assert HEAD.match(report)[3] == "MPI_Win_fence", report
    assert "for rank 1 to enter the fence" in report, report
    assert "it has made no call on a window" not in report, report


@pytest.mark.hosts("mpich")
def test_each_place_says_so_once(job, host, tmp_path):
    """Two turns, in each of which the same calls wait for two seconds or more."""
    waiting, late = range(6), range(6, 12)

    def wait_long(moment: Moment) -> bool:
        return all(moment.has_waited(rank) > 2 for rank in waiting)

    turn = Step(0, over=late, waiting=waiting, ready=wait_long)
    words = [folder_of(host) / "late", "1", "2"]
    output = paced_run(job, host, words, 12, tmp_path, 2 * [turn], {"ORIEL_STALL": "1"})
    told = Counter(int(rank) for rank, *_ in HEAD.findall(output) if int(rank) in waiting)
    assert told == Counter(waiting), output


@pytest.mark.hosts("mpich")
def test_a_rank_that_others_keep_busy_says_so_too(job, host, tmp_path):
    """It serves another rank's updates all the time."""
    over = tmp_path / "over"
    settings = {"ORIEL_VM": "0"}  # it has to carry them out itself
    output = told(
        job,
        host,
        [over],
        3,
        lambda out, _: "for rank 1 to post" in out,
        settings,
        over.touch,
        "busy",
    )
    assert HEAD.findall(output)[0][::2] == ("0", "MPI_Win_complete")


@pytest.mark.hosts("mpich")
def test_a_signal_asks(job, host, tmp_path):
    """Of the two ranks of a pair, the one that waits answers in its wait, the other at once."""
    over = tmp_path / "over"
    asked = []

    def answered(output, run):
        if not asked and complete(output, run):
            asked.extend(int(pid) for pid in re.findall(r"WORLD \(process (\d+)\)", output))
            for pid in set(asked):
                os.kill(pid, signal.SIGUSR1)
        answers = output.count("That is rank") - len(EXPECTED)
        return answers == len(EXPECTED) and output.count("This rank is in no call of Oriel's") == 6

    told(
        job,
        host,
        [over],
        12,
        answered,
        {"ORIEL_STALL_SIGNAL": str(int(signal.SIGUSR1))},
        when_complete=over.touch,
    )


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, 4711])
def test_not_every_signal_may_ask(job, host, number):
    """It has no handler, says that the program cannot go on, or does not exist."""
    settings = {"ORIEL_STALL_SIGNAL": str(int(number))}
    status, output = job.run_command(host, [folder_of(host) / "late", "1", "1"], 12, settings)
    assert status == 0, output
    assert f"{int(number)} is no signal that may ask a rank" in output, output


@pytest.mark.hosts("mpich")
def test_zero_is_silence(job, host, tmp_path):
    """In waits in which a rank speaks after the default of 30 s: by a fast clock, half a second."""
    compile_c(tmp_path, FAST_CLOCK, "-shared", "-fPIC", "-o", "fast_clock.so")
    fast = {"LD_PRELOAD": str(tmp_path / "fast_clock.so")}
    over = tmp_path / "over"
    told(job, host, [over], 12, complete, {**fast, "ORIEL_STALL": "30"}, when_complete=over.touch)
    status, output = job.run_command(
        host, [folder_of(host) / "late", "1500", "1"], 12, {**fast, "ORIEL_STALL": "0"}
    )
    assert status == 0 and "has waited for" not in output, output
    waits = re.findall(r"rank \d+ waited (\S+) s", output)  # by MPICH's clock, which is another
    assert max(float(wait) for wait in waits) > 1, output
