# SPDX-License-Identifier: BSD-3-Clause
"""`oriel report FOLDER`: what the ranks of a run waited for, from what `oriel run --report` has
recorded there.

It prints a table: each kind of wait at each place in the program, how long it took, which rank was
late, and which call would have spared it. FOLDER/report.json has the same for programs, and
FOLDER/index.html for a browser, with a timeline of all ranks.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from oriel.report.units import memory_text
from oriel.wait_states.html_page import write_page
from oriel.wait_states.perfetto import write_timeline
from oriel.wait_states.record import RecordError, read_records
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.report_json import write_json
from oriel.wait_states.report_text import table
from oriel.wait_states.run_report import make_report


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--all", action="store_true", help="also waits that took less than 1 %% of the run"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="also write FOLDER/timeline.json, which https://ui.perfetto.dev opens",
    )
    parser.add_argument(
        "--otf2",
        action="store_true",
        help="also write FOLDER/otf2/traces.otf2, an archive for Vampir and Scalasca (takes the "
        "Python package otf2)",
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path("oriel-report"),
        help="folder of the records (default: oriel-report)",
    )
    return parser


# Bytes of records that take several seconds to read.
_LARGE = 50 << 20


def report_on(
    folder: Path, all_waits: bool = False, timeline: bool = False, otf2: bool = False
) -> str:
    """Writes the report of a folder's records, and gives back its table. A RecordError if there are
    no records, or the folder cannot be written to."""
    if otf2:  # whose package may be missing
        from oriel.wait_states.otf2_archive import write_archive
    records, unread = read_records(folder)
    size = sum(record.path.stat().st_size for record in records)
    if size >= _LARGE:
        print(f"oriel: reading {memory_text(size)} of records ...", file=sys.stderr, flush=True)
    gc.disable()  # entries come and go by the million, without cycles: a fifth of the time
    try:
        run = Run(records, unread)
        report = make_report(run)
        write_json(report, folder / "report.json")
        write_page(report, run, folder / "index.html")
        if timeline:
            write_timeline(report, run, folder / "timeline.json")
        if otf2:
            write_archive(report, run, folder / "otf2")
    except OSError as error:
        raise RecordError(
            f"The report cannot be made: {error.filename or folder}: {error.strerror}. The "
            f"records remain; call `oriel report {folder}` when that is mended."
        ) from None
    finally:
        gc.enable()
    return table(report, 0.0) if all_waits else table(report)


def main(argv: list[str]) -> int:
    given = make_parser().parse_args(argv)
    print(report_on(given.folder, given.all, given.timeline, given.otf2), end="")
    return 0
