# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench`: measures calls and small applications against the MPI library alone.

Tables are printed; figures and results are written to a folder.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys

from oriel.bench.options import add_common, add_place
from oriel.bench.subjects import MODULES, SUBJECTS
from oriel.hosts.nodes import across


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oriel bench", description=__doc__)
    subject = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    for name, (add_its_own, text) in SUBJECTS.items():
        its_own = subject.add_parser(name, help=text)
        add_its_own(its_own)
        if name != "pending":
            add_place(its_own)
        add_common(its_own)
    return parser


def main(argv: list[str]) -> int:
    arguments = make_parser().parse_args(argv)
    # So that a benchmark that is ended from outside ends its jobs as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # They take packages that the parser does without.
    console = importlib.import_module("oriel.report.console").tables_console()
    name = arguments.subject
    subject = importlib.import_module(f"oriel.bench.{MODULES.get(name, name)}")
    with across(getattr(arguments, "hosts", 1)) as nodes:
        return subject.run(arguments, console, nodes)
