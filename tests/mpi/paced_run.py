# SPDX-License-Identifier: BSD-3-Clause
"""Runs in which the test ends the work of ranks, and records whose clock the test sets.

A rank of a program with support/paced.hpp works until the test ends its work. The test does so when
all ranks have come to where they should be meanwhile, however long that takes. In the records the
work then takes the time that the test wants, an hour or so: next to that the time for which a rank
loses its processor on a busy machine is nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from conftest import LIMIT_SECONDS
from oriel.hosts.job import end, until_started
from oriel.wait_states.record import Entry, Record, RecordError, read_records
from support.clock_change import change_clock

HOUR = 3600.0  # seconds
# Of an hour: what all else of a run may take.
TOLERANCE = 0.02
# Of a record's folder: where its ranks say what they do.
PACE = "pace"


class Moment:
    """What the records show of one time of this machine's clock, which has just been. Indexed by
    the rank."""

    def __init__(self, folder: Path) -> None:
        self.time = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.records = {record.rank: record for record in read_records(folder)[0]}

    def entries(self, rank: int, kinds: tuple[str, ...]) -> Iterator[Entry]:
        """Of the rank, until then: later ones come behind the step."""
        record = self.records[rank]
        until = self.time + _ahead(record)
        return (entry for entry in record.entries(kinds) if entry.time <= until)

    def is_waiting(self, rank: int) -> bool:
        """In Oriel."""
        kinds = Counter(entry.kind for entry in self.entries(rank, ("wait_begun", "wait_ended")))
        return kinds["wait_begun"] > kinds["wait_ended"]

    def has_waited(self, rank: int) -> float:
        """Seconds since the rank began its last wait."""
        record = self.records[rank]
        *_, last = record.entries(("wait_begun",))
        return (self.time + _ahead(record) - last.time) / 1e9

    def nobody_waits(self) -> bool:
        return not any(map(self.is_waiting, self.records))


class Step(NamedTuple):
    """It begins at a moment when the ranks `over` and `working` work, the ranks `waiting` wait in a
    call that the program marks, the ranks `returned` have come back from one such call in each step
    so far, and `ready` holds. It takes `seconds` by the clock of the records, and ends the work of
    the ranks `over`."""

    seconds: float
    over: Collection[int]
    working: Collection[int] = ()
    waiting: Collection[int] = ()
    returned: Collection[int] = ()
    ready: Callable[[Moment], bool] = lambda moment: True


def _ahead(record: Record) -> int:
    """Nanoseconds. A rank in a time namespace has another clock; its record says by how much."""
    offset = re.search(r"([+-]\d+)\.(\d+)$", record.boot)
    return int(offset[1]) * 10**9 + int(offset[2]) if offset else 0


def _begin(step: Step, number: int, folder: Path) -> Moment | None:
    """None: the ranks have not yet come so far."""
    made = Counter(tuple(name.split("-")[:2]) for name in os.listdir(folder / PACE))

    def marks(what: str, rank: int) -> int:
        return made[what, str(rank)]

    if not (
        all(marks("work", rank) for rank in (*step.over, *step.working))
        and all(marks("calling", rank) > marks("called", rank) for rank in step.waiting)
        and all(marks("called", rank) >= number for rank in step.returned)
    ):
        return None
    try:
        moment = Moment(folder)
        begun = all(map(moment.is_waiting, step.waiting)) and step.ready(moment)
    except (RecordError, KeyError):  # not all ranks have begun theirs
        return None
    return moment if begun else None


def _play(
    run: subprocess.Popen, steps: Sequence[Step], folder: Path, until: float
) -> list[tuple[int, int]] | None:
    """When each step began, and how long it takes, in nanoseconds; None if the ranks do not come to
    one."""
    taken = []
    for number, step in enumerate(steps, 1):
        while (moment := _begin(step, number, folder)) is None:
            if run.poll() is not None or time.monotonic() > until:
                return None
            time.sleep(0.01)
        taken.append((moment.time, int(step.seconds * 1e9)))
        for rank in step.over:
            for file in folder.glob(f"{PACE}/work-{rank}-*"):
                file.unlink()
    return taken


def _pass_time(folder: Path, steps: Sequence[tuple[int, int]]) -> None:
    """Adds what each step took to all times behind its begin."""
    for record in read_records(folder)[0]:
        ahead = _ahead(record)

        def later(now: int, ahead: int = ahead) -> int:
            return now + sum(taken for begun, taken in steps if now > begun + ahead)

        change_clock(record.path, record.boot.encode(), later)


def paced_run(
    job, host, command: list, ranks: int, folder: Path, steps: Sequence[Step], settings=None,
    nodes=None, fails=False,
) -> str:  # fmt: skip
    """Runs a program through these steps, with its records in the folder. Returns its output.
    `fails`: it does not end well."""
    pace = folder / PACE
    settings = {"ORIEL_REPORT": str(folder), "ORIEL_TEST_PACE": str(pace), **(settings or {})}
    limit = LIMIT_SECONDS * (3 if nodes else 1)

    def attempt():
        shutil.rmtree(pace, ignore_errors=True)
        pace.mkdir(parents=True)
        with job.start(host, command, ranks, settings, nodes) as run:
            try:
                taken = _play(run, steps, folder, time.monotonic() + limit)
                hangs = taken is None and run.returncode is None
                output = end(run) if hangs else run.communicate(timeout=LIMIT_SECONDS)[0]
            finally:
                end(run)
        return (taken, run.returncode, output), output

    (taken, status, output), _ = until_started(attempt)
    assert taken, f"The ranks did not come to a step: {sorted(os.listdir(pace))}\n{output}"
    assert (status != 0) == fails, output
    _pass_time(folder, taken)
    return output
