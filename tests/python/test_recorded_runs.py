# SPDX-License-Identifier: BSD-3-Clause
"""The records of a benchmark's runs, which `oriel report` reads behind each run."""

from __future__ import annotations

from pathlib import Path

from oriel.bench.recording import RecordedRuns
from support.records import write_late_posts


def test_a_report_that_cannot_be_made_is_a_failure():
    """The first one ends the reading, with what `oriel report` says."""
    recorded = RecordedRuns()
    for broken in (False, True, True):
        with recorded.report() as settings:
            folder = Path(settings["ORIEL_REPORT"])
            write_late_posts(folder, pairs=1, turns=2)
            if broken:
                (folder / "report.json").mkdir()
    assert len(recorded.readings) == 1
    assert recorded.readings[0].events > 0 and recorded.speed()
    (failure,) = recorded.failures
    assert "`oriel report` failed: " in failure and "report.json" in failure, failure
