# SPDX-License-Identifier: BSD-3-Clause
"""Measures for `oriel paper`, and writes its page."""

from __future__ import annotations

import argparse

from rich.console import Console

from oriel.hosts.host import choose_hosts
from oriel.paper import campaign, comparisons, documents
from oriel.paper.catalogue import PAPERS
from oriel.paper.runs import RUNS
from oriel.report.console import tables_console


def run(arguments: argparse.Namespace) -> int:
    """Returns the exit status."""
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
