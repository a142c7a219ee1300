# SPDX-License-Identifier: BSD-3-Clause
"""`oriel paper`: every figure, table and headline number of the five papers, and ours beside it,
measured on this machine: one page."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from rich.console import Console

from oriel.hosts.host import choose_hosts
from oriel.paper import campaign, comparisons, documents
from oriel.paper.catalogue import PAPERS
from oriel.paper.runs import RUNS
from oriel.report.console import tables_console


def _names(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= {run.name for run in RUNS}:
        raise ValueError
    return names


_names.__name__ = f"list of {', '.join(run.name for run in RUNS)}"  # what argparse expects


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="oriel paper", description=__doc__)
    parser.add_argument(
        "--mpi",
        default="all",
        metavar="NAME",
        help="the host MPIs: mpich, openmpi, intel with commas between them, or all (default: "
        "all that are found)",
    )
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
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    arguments = _arguments(argv)
    # So that it ends its runs, if it is ended from outside.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    folder = arguments.output
    runs = [run for run in RUNS if not arguments.only or run.name in arguments.only]
    if arguments.redraw:
        runs = []
    else:
        hosts = choose_hosts(arguments.mpi)
        campaign.measure(
            runs, folder, arguments.mpi, len(hosts), arguments.quick, Console(stderr=True)
        )
    outcomes = {run.name: campaign.read(run, folder, arguments.quick) for run in RUNS}
    titles = comparisons.hosts_of(outcomes)
    papers = comparisons.all_shown(PAPERS, outcomes, list(titles), folder)
    page = folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(documents.page(papers, outcomes, titles), encoding="utf-8")
    if arguments.evidence:
        arguments.evidence.write_text(
            documents.evidence(papers, outcomes, titles), encoding="utf-8"
        )
    console = tables_console()
    for name, outcome in outcomes.items():
        if outcome.problem:
            console.print(f"- {name}: {outcome.problem}", highlight=False, markup=False)
    console.print(f"Figures, tables and numbers: {page}", highlight=False, markup=False)
    measured = runs or RUNS
    return 1 if any(outcomes[run.name].failed for run in measured) else 0
