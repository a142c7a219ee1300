# SPDX-License-Identifier: BSD-3-Clause
"""Folders for the records of a benchmark's runs, and how fast `oriel report` reads them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from oriel.hosts.temporary_folder import TemporaryFolder
from oriel.wait_states.record import RecordError, read_records

# Of all runs; more would take most of the benchmark's time.
_ENOUGH_EVENTS = 200_000


@dataclass(frozen=True)
class Reading:
    """What `oriel report` has made of one run's records, in seconds of processor time."""

    events: int
    seconds: float


@dataclass
class RecordedRuns:
    """`readings`: of the runs whose records have been read, up to the first that `oriel report`
    could not read; `failures`: what it said of that one."""

    readings: list[Reading] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def report(self) -> Iterator[Mapping[str, str]]:
        """Settings for a run that records. Behind the first runs their reports are made."""
        with TemporaryFolder("bench") as folder:
            yield {"ORIEL_REPORT": str(folder)}
            events = sum(reading.events for reading in self.readings)
            if events < _ENOUGH_EVENTS and not self.failures:
                self._read(folder)

    @contextmanager
    def timeline(self) -> Iterator[Mapping[str, str]]:
        """The same with every operation, without a report."""
        with TemporaryFolder("bench") as folder:
            yield {"ORIEL_REPORT": str(folder), "ORIEL_TIMELINE": "1"}

    def _read(self, folder: Path) -> None:
        try:
            records, _ = read_records(folder)
        except RecordError:  # the run has failed, and says why
            return
        events = sum(record.events for record in records)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [sys.executable, "-m", "oriel", "report", folder],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            self.failures.append(f"`oriel report` failed: {ended.stderr.strip()}")
            return
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.readings.append(Reading(events, seconds))

    def speed(self) -> float | None:
        """Events per second of processor time."""
        seconds = sum(reading.seconds for reading in self.readings)
        return sum(reading.events for reading in self.readings) / seconds if seconds else None
