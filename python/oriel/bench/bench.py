# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench`: measures calls and small applications against the MPI library alone.

Tables are printed; figures and results are written to a folder.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys

from oriel.bench import options
from oriel.bench.alltoallv import alltoallv_options
from oriel.bench.cholesky import cholesky_options
from oriel.bench.collectives import collectives_options
from oriel.bench.halo import halo_options
from oriel.bench.lu import lu_options
from oriel.bench.micro import micro_options
from oriel.bench.notify import notify_options
from oriel.bench.pending import pending_options
from oriel.bench.progress import progress_options
from oriel.bench.recording import recording_options
from oriel.bench.sparse import sparse_options
from oriel.bench.stencil import stencil_options
from oriel.bench.threads import threads_options
from oriel.bench.transactions import transactions_options
from oriel.bench.tree import tree_options
from oriel.bench.wavefront import wavefront_options
from oriel.bench.windows import windows_options
from oriel.hosts.nodes import across

# The options and a summary of each.
SUBJECTS = {
    "micro": (micro_options, "time of every kind of call against the host MPIs"),
    "pending": (pending_options, "many pending epochs: completion and memory"),
    "halo": (halo_options, "an exchange of ghost cells against messages"),
    "progress": (progress_options, "puts to a target that computes"),
    "report": (recording_options, "what a report, a timeline and counters of MPI_T cost"),
    "notify": (notify_options, "notified access against messages and one-sided calls"),
    "stencil": (stencil_options, "a pipelined stencil: notified access against messages"),
    "wavefront": (
        wavefront_options,
        "a row of a pipelined stencil against the best host's messages",
    ),
    "tree": (tree_options, "a reduction along a tree: notified access against messages"),
    "cholesky": (
        cholesky_options,
        "a Cholesky factorization by tasks: notified access against messages",
    ),
    "lu": (
        lu_options,
        "an LU decomposition: nonblocking epochs against blocking ones and messages",
    ),
    "windows": (
        windows_options,
        "put and flush by kind of window, and what making the window costs",
    ),
    "threads": (threads_options, "put and flush by many threads, by scope and order of the window"),
    "alltoallv": (alltoallv_options, "persistent all-to-all exchanges against the host's calls"),
    "collectives": (
        collectives_options,
        "the other persistent collectives against the host's calls",
    ),
    "sparse": (
        sparse_options,
        "the exchange of a sparse matrix-vector product against the host's calls",
    ),
    "transactions": (transactions_options, "unstructured updates, each in a lock epoch of its own"),
}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oriel bench", description=__doc__)
    subject = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    for name, (module, text) in SUBJECTS.items():
        its_own = subject.add_parser(name, help=text)
        module.add_arguments(its_own)
        if module is not pending_options:
            options.add_place(its_own)
        options.add_common(its_own)
    return parser


def main(argv: list[str]) -> int:
    arguments = make_parser().parse_args(argv)
    # So that a benchmark that is ended from outside ends its jobs as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # They take packages that the parser does without.
    console = importlib.import_module("oriel.report.console").tables_console()
    package = SUBJECTS[arguments.subject][0].__package__
    subject = importlib.import_module(f"{package}.{package.rpartition('.')[2]}")
    with across(getattr(arguments, "hosts", 1)) as nodes:
        return subject.run(arguments, console, nodes)
