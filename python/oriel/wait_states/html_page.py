# SPDX-License-Identifier: BSD-3-Clause
"""The report as one page that needs neither a network nor a package: page.html with page.css,
page.js and the data in it. The script makes all elements, from text and never from markup."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from oriel.wait_states.lanes import Lanes
from oriel.wait_states.new_file import new_file
from oriel.wait_states.record import EPOCHS
from oriel.wait_states.recorded_activity import Activity
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.report_json import as_json
from oriel.wait_states.report_text import LEAST_SHARE, advice, late_ranks, on_empty
from oriel.wait_states.run_report import Report, window_name
from oriel.wait_states.wait_state import PATTERNS

_FOLDER = Path(__file__).parent
# By Record.process.
_Process = tuple[bool, int, str]
# Epochs of a rank that overlap are drawn beneath one another, further ones in the last lane.
_MOST_LANES = 4


def write_page(report: Report, run: Run, path: Path) -> None:
    # What begins with < could end the script element.
    data = json.dumps(_data(report, run), separators=(",", ":")).replace("<", "\\u003c")
    page = _read("page.html")
    for name, text in (
        ("page.css", _read("page.css")),
        ("page.js", _read("page.js")),
        ("data", data),
    ):
        page = page.replace(f"@{name}@", text, 1)
    with new_file(path) as file:
        file.write(page)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _data(report: Report, run: Run) -> dict:
    """What page.js reads. Times in nanoseconds from the begin of the clock's first record."""
    names: dict[str, int] = {}
    waits = _waits(report, run)
    epochs = _epochs(report, run, names)
    written = as_json(report)
    said = written["notes"]
    if report.shown.left_out or report.epochs.left_out:
        said.append(
            f"The timeline leaves out the shortest {report.shown.left_out:,} waits and "
            f"{report.epochs.left_out:,} epochs."
        )
    said += report.activity.sentences()
    bands = {each.record.process: each.record for each in run.histories}
    labels: dict[tuple[str, str], int] = {}
    operations = _operations(report.activity, run, list(bands), names, labels)
    sweeps = _sweeps(report.activity, run)
    return {
        **written,
        "rows": [
            {**as_row, "late_ranks": late_ranks(row), "advice": advice(report, row)}
            for as_row, row in zip(written["rows"], report.rows)
        ],
        "empty_epochs": [on_empty(row) for row in report.empty_epochs if row.share >= LEAST_SHARE],
        "least_share": LEAST_SHARE,
        "colours": {name: pattern.colour for name, pattern in PATTERNS.items()},
        "span": max([each.ended - run.begun(each) for each in run.histories], default=0),
        "kinds": EPOCHS,
        "windows": list(names),
        "labels": list(labels),
        "timelines": [
            {
                "rank": record.rank,
                "name": record.name,
                "waits": waits.get(process, []),
                "epochs": epochs.get(process, []),
                "operations": operations.get(process, []),
                "sweeps": sweeps.get(process, []),
            }
            for process, record in bands.items()
        ],
    }


def _waits(report: Report, run: Run) -> dict[_Process, list[int]]:
    """By process, one after the other in the order of time: number of the row, begin, duration,
    late rank or -1, time of that rank's step or -1."""
    numbers = {id(row): number for number, row in enumerate(report.rows)}
    flat: dict[_Process, list[int]] = {}
    for state, row in sorted(report.shown, key=lambda shown: shown.state.begun):
        zero = run.begun(state.history)
        flat.setdefault(state.history.record.process, []).extend(
            (
                numbers[id(row)],
                state.begun - zero,
                state.lost,
                -1 if state.late is None else state.late,
                min(state.ended_by.time, state.ended) - zero if state.ended_by else -1,
            )
        )
    return flat


def _operations(
    activity: Activity,
    run: Run,
    bands: list[_Process],
    names: dict[str, int],
    labels: dict[tuple[str, str], int],
) -> dict[_Process, list[int]]:
    """By process, one after the other in the order of time: number of the label (what it is, and
    what is known of it), of the window's name, bytes, begin since that of the one before, duration
    or -1, rank of the target, its band or -1; and since the begin, or -1: when it had arrived, when
    its notification was taken."""
    numbers = {process: number for number, process in enumerate(bands)}
    flat: dict[_Process, list[int]] = defaultdict(list)
    last: dict[_Process, int] = {}
    for each in sorted(activity.moved(), key=lambda operation: operation.begun):
        process = each.origin.record.process
        begun = each.begun
        about = ", ".join(f"{name} {value}" for name, value in each.about.items())
        label = (each.name.replace("_", " "), about.replace("_", " "))
        window = window_name(each.window)
        flat[process] += (
            labels.setdefault(label, len(labels)),
            names.setdefault(window, len(names)),
            each.bytes,
            begun - last.get(process, run.begun(each.origin)),
            -1 if each.ended is None else each.ended - begun,
            each.rank,
            numbers[each.target.record.process] if each.target else -1,
            -1 if each.arrived is None else each.arrived - begun,
            -1 if each.taken is None else each.taken - begun,
        )
        last[process] = begun
    return flat


def _sweeps(activity: Activity, run: Run) -> dict[_Process, list[int]]:
    """Of the progress agents: by process, one after the other, begin and duration."""
    flat: dict[_Process, list[int]] = defaultdict(list)
    for history, begun, ended in activity.sweeps:
        flat[history.record.process] += (begun - run.begun(history), ended - begun)
    return flat


def _epochs(report: Report, run: Run, names: dict[str, int]) -> dict[_Process, list[int]]:
    """By process, one after the other in the order of time: number of the window's name, of the
    kind, lane, opened, activated, closed, end, whether it completed."""
    lanes: dict[_Process, Lanes] = defaultdict(lambda: Lanes(_MOST_LANES))
    flat: dict[_Process, list[int]] = {}
    for epoch in sorted(report.epochs, key=lambda epoch: epoch.begun):
        record, zero = epoch.history.record, run.begun(epoch.history)
        window = record.windows.get(epoch.window)
        name = window_name(window) or f"number {epoch.window}"
        flat.setdefault(record.process, []).extend(
            (
                names.setdefault(name, len(names)),
                EPOCHS.index(epoch.kind),
                lanes[record.process].take(epoch.begun, epoch.ended),
                epoch.begun - zero,
                epoch.active - zero,
                epoch.closed - zero,
                epoch.ended - zero,
                int(epoch.completed),
            )
        )
    return flat
