# SPDX-License-Identifier: BSD-3-Clause
"""`oriel paper`: repeats on this machine the measurements of five published papers, and writes a
page with each of their figures, tables and headline numbers beside ours.

The papers are "Nonblocking Epochs in MPI One-Sided Communication" (Zounmevo and others),
"Minimizing Synchronization Overhead in the Implementation of MPI One-Sided Communication" (Thakur
and others), "Notified Access" (Belli, Hoefler), "Quo Vadis MPI RMA?" (Schuchart and others), and
"Analyzing Persistent Alltoallv RMA Implementations" (Namugwanya and others).
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from pathlib import Path

from oriel.hosts.mpi_option import add_mpis_option
from oriel.paper.runs import RUNS


def _names(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= {run.name for run in RUNS}:
        raise ValueError
    return names


_names.__name__ = f"list of {', '.join(run.name for run in RUNS)}"  # what argparse expects


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel paper",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mpis_option(parser, "all", "all that are found")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--only",
        type=_names,
        metavar="RUNS",
        help="only these runs, with commas between them; of the others the page shows what an "
        f"earlier call has measured. There are {', '.join(run.name for run in RUNS)}",
    )
    which.add_argument(
        "--redraw",
        action="store_true",
        help="measure nothing: make the page of what earlier calls have measured",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/paper"),
        metavar="FOLDER",
        help="where the page and the results go (default: build/paper)",
    )
    parser.add_argument(
        "--evidence",
        type=Path,
        metavar="FILE",
        help="write the numbers as Markdown too, as docs/evidence.md has them",
    )
    return parser


def main(argv: list[str]) -> int:
    arguments = make_parser().parse_args(argv)
    # So that it ends its runs, if it is ended from outside.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # They take packages that the parser does without.
    return importlib.import_module("oriel.paper.measurements").run(arguments)
