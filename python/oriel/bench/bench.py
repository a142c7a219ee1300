# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench micro`: the time of one-sided calls, each host MPI alone against Oriel on it.
`oriel bench pending`: very many pending nonblocking epochs in one process.
`oriel bench halo`: epochs against point-to-point communication, in an exchange of ghost cells.
`oriel bench progress`: put and flush to a target that computes, against one that waits in MPI.
`oriel bench notify`: notified access against messages and one-sided calls, the paper's figures.
`oriel bench stencil`: a pipelined stencil by notified access, against messages.
`oriel bench wavefront`: a row of the same stencil, against the messages of the best host.
`oriel bench tree`: a reduction along a tree by notified access, against messages.
`oriel bench cholesky`: a Cholesky factorization by tasks and notified access, against messages.
`oriel bench lu`: an LU decomposition, nonblocking epochs against blocking ones and messages.
`oriel bench windows`: put and flush by kind of window, and what making the window costs.
`oriel bench threads`: put and flush by many threads of a rank, by scope and order of the window.
`oriel bench alltoallv`: persistent all-to-all exchanges, by each algorithm, against the host's.
`oriel bench collectives`: the other persistent collectives, against the host's.
`oriel bench sparse`: exchanges as alltoallv's, of what a sparse matrix-vector product needs.
`oriel bench transactions`: unstructured atomic updates, each in a lock epoch of its own."""

from __future__ import annotations

import argparse
import signal
import sys

from oriel.bench import options
from oriel.bench.alltoallv import alltoallv
from oriel.bench.cholesky import cholesky
from oriel.bench.collectives import collectives
from oriel.bench.halo import halo
from oriel.bench.lu import lu
from oriel.bench.micro import micro
from oriel.bench.notify import notify
from oriel.bench.pending import pending
from oriel.bench.progress import progress
from oriel.bench.sparse import sparse
from oriel.bench.sparse.sparse_matrices import MatrixError
from oriel.bench.stencil import stencil
from oriel.bench.threads import threads
from oriel.bench.transactions import transactions
from oriel.bench.tree import tree
from oriel.bench.wavefront import wavefront
from oriel.bench.windows import windows
from oriel.hosts.nodes import across
from oriel.report.console import tables_console

SUBJECTS = {
    "micro": (micro, "time of every kind of call against the host MPIs"),
    "pending": (pending, "many pending epochs: completion and memory"),
    "halo": (halo, "an exchange of ghost cells against messages"),
    "progress": (progress, "puts to a target that computes"),
    "notify": (notify, "notified access against messages and one-sided calls"),
    "stencil": (stencil, "a pipelined stencil: notified access against messages"),
    "wavefront": (wavefront, "a row of a pipelined stencil against the best host's messages"),
    "tree": (tree, "a reduction along a tree: notified access against messages"),
    "cholesky": (cholesky, "a Cholesky factorization by tasks: notified access against messages"),
    "lu": (lu, "an LU decomposition: nonblocking epochs against blocking ones and messages"),
    "windows": (windows, "put and flush by kind of window, and what making the window costs"),
    "threads": (threads, "put and flush by many threads, by scope and order of the window"),
    "alltoallv": (alltoallv, "persistent all-to-all exchanges against the host's calls"),
    "collectives": (collectives, "the other persistent collectives against the host's calls"),
    "sparse": (sparse, "the exchange of a sparse matrix-vector product against the host's calls"),
    "transactions": (transactions, "unstructured updates, each in a lock epoch of its own"),
}


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="oriel bench", description=__doc__)
    subject = parser.add_subparsers(dest="subject", required=True, metavar="|".join(SUBJECTS))
    for name, (module, text) in SUBJECTS.items():
        its_own = subject.add_parser(name, help=text)
        module.add_arguments(its_own)
        if module is not pending:
            options.add_place(its_own)
        options.add_common(its_own)
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    arguments = _arguments(argv)
    # So that a benchmark that is ended from outside ends its jobs as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    module, _ = SUBJECTS[arguments.subject]
    try:
        with across(getattr(arguments, "hosts", 1)) as nodes:
            return module.run(arguments, tables_console(), nodes)
    except MatrixError as error:
        print(f"oriel bench: {error}", file=sys.stderr)
        return 1
