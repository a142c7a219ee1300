# SPDX-License-Identifier: BSD-3-Clause
"""`oriel doctor`: examines this machine and its MPIs, tests each path between two ranks, all tests
together within ten seconds, and says what will be slow, what will not work, and what to change.

The exit status is 1 if something will not work, and 0 otherwise.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import signal
import sys

from oriel import __version__
from oriel.doctor import diagnosis, finding_table
from oriel.doctor.finding import any_fails
from oriel.hosts.launcher import add_launcher_option
from oriel.hosts.mpi_option import add_mpi_option

# More than any line has, for output that is no terminal.
_UNLIMITED = 10_000


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel doctor",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mpi_option(parser, " (default: all that are found)")
    add_launcher_option(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def _show_progress(text: str) -> None:
    """One line of a terminal, which the next one replaces; `text` is empty at the end."""
    if sys.stderr.isatty():
        line = f"examining {text}" if text else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    given = make_parser().parse_args(argv)
    # So that it ends its jobs and removes its nodes, if it is ended from outside.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    _show_progress("this machine")
    try:
        findings = diagnosis.examine_machine()
        findings += diagnosis.examine_hosts(given.mpi, given.launcher, _show_progress)
    finally:
        _show_progress("")
    fails = any_fails(findings)
    if given.json:
        rows = [dataclasses.asdict(finding) for finding in findings]
        print(json.dumps({"version": __version__, "works": not fails, "findings": rows}, indent=2))
    else:
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED
        print(finding_table.text(findings, columns))
    return 1 if fails else 0
