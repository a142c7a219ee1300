# SPDX-License-Identifier: BSD-3-Clause
"""`oriel top`: what the ranks of a running job wait for (B2), read from what the library shows."""

from __future__ import annotations

import re
import subprocess
import sys
import threading

import pytest
from conftest import LIMIT_SECONDS, REPOSITORY, oriel
from test_stalls import complete, told

# By the rank: what it waits for, for whom, on which window.
EXPECTED = {
    0: ("waits in MPI_Win_complete", "rank 6", "late post"),
    1: ("waits in MPI_Win_wait", "rank 7", "late complete"),
    2: ("waits in a fence", "rank 8", "late fence"),
    3: ("waits in an unlock", "rank 9", "late unlock"),
    4: ("waits for a notification", "rank 10", "late notification"),
    5: ("waits for a request", "rank 11 ?", "late request"),  # what is pending, perhaps for others
}
ROW = re.compile(
    r" *(\d+) +(\d+)  (\S.*?)(?: {2,}([\d.]+))? {2,}(\d+)% {2,}([\d,]+)(?:  (\S.*?)  +(\S.*))?"
)


def rows_of(shown: subprocess.CompletedProcess) -> dict[int, tuple]:
    """By the rank: PID, state, seconds, percents of a processor, calls per second, for whom,
    window."""
    assert shown.returncode == 0, shown.stderr
    found = map(ROW.fullmatch, shown.stdout.splitlines())
    return {int(row[1]): row.groups()[1:] for row in found if row}


@pytest.mark.hosts("mpich", "openmpi")
def test_what_each_rank_waits_for(job, host, tmp_path):
    """By the PID of the launcher, and of a rank; until the job has ended."""
    over = tmp_path / "over"
    runs, watching, limits = [], [], []

    def all_wait(output, run):
        runs[:] = [run]
        return complete(output, run)

    def look():
        rows = rows_of(oriel("top", "--once", runs[0].pid))
        assert rows.keys() == set(range(12))
        for rank, (_, state, seconds, _, calls, awaited, window) in rows.items():
            assert (state, awaited, window) == EXPECTED.get(rank, (state, None, None)), rows
            assert rank in EXPECTED or not state.startswith("waits in"), rows
            # Who waits says so after a second; the others were seen to make no call meanwhile.
            assert float(seconds) > (0.9 if rank in EXPECTED else 0), rows
            assert calls == "0", rows
        of_a_rank = rows_of(oriel("top", "--once", rows[4][0]))
        assert {4, 10} <= of_a_rank.keys() <= rows.keys()  # who shares a window with it
        words = ["top", rows[4][0], "--interval", "0.1"]
        watching.append(
            subprocess.Popen(
                [sys.executable, "-m", "oriel", *words],
                env={"PYTHONPATH": str(REPOSITORY / "python")},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        limits.append(threading.Timer(LIMIT_SECONDS, watching[0].kill))
        limits[0].start()
        assert "oriel top: " in watching[0].stdout.readline()
        over.touch()

    told(job, host, [over], 12, all_wait, when_complete=look)
    with watching[0] as watched:
        shown = watched.stdout.read()
    limits[0].cancel()
    assert "late notification" in shown and re.search(r"\nProcess \d+ has ended.\n$", shown), shown
    assert watched.returncode == 0
    ended = oriel("top", "--once", runs[0].pid)
    assert ended.returncode == 1
    assert f"There is no process {runs[0].pid} on this machine" in ended.stderr


@pytest.mark.hosts("mpich")
def test_ranks_that_wait_for_one_another_are_named(job, host, tmp_path):
    shown = []

    def look(output, run):
        if "wait for one another" in output:
            shown.append(oriel("top", "--once", run.pid))
        return bool(shown)

    told(job, host, [tmp_path / "never", "circle"], 2, look)
    assert re.search(
        r"\nThese wait for one another, so that none can go on, unless "
        r"another thread of theirs ends it: rank (\d) and rank (?!\1)\d\.\n",
        shown[0].stdout,
    ), shown[0].stdout
