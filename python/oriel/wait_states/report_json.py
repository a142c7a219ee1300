# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run for programs, and for the page."""

from __future__ import annotations

import json
from pathlib import Path

from oriel.wait_states.aligned_records import Machine
from oriel.wait_states.new_file import new_file
from oriel.wait_states.report_text import notes, ran
from oriel.wait_states.run_report import Report

# Of a report: single events, and call sites.
_LEFT_OUT = ("shown", "epochs", "activity", "callers")


def as_json(report: Report) -> dict:
    """Without the single wait states; with the sentences on the run."""
    return {
        **{name: value for name, value in vars(report).items() if name not in _LEFT_OUT},
        "rows": [vars(row) for row in report.rows],
        "empty_epochs": [vars(row) for row in report.empty_epochs],
        "machines": [_machine(each, report.machines) for each in report.machines],
        "ran": ran(report),
        "notes": notes(report),
    }


def _machine(machine: Machine, machines: list[Machine]) -> dict:
    """`clock`: the number of the machine by whose clock times are given; `offset`, `rate`: of that
    clock less its own: at the first knot, and its mean change since; `error`: of the offset.
    Nanoseconds."""
    clock = machine.clock
    return {
        "hosts": machine.hosts,
        "clock": next(at for at, each in enumerate(machines) if each.boot == machine.timed_by),
        "offset": clock.offset if clock else 0,
        "rate": clock.rate if clock else 0.0,
        "error": machine.error,
    }


def write_json(report: Report, path: Path) -> None:
    with new_file(path) as file:
        json.dump(as_json(report), file, indent=1)
