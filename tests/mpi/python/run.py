# SPDX-License-Identifier: BSD-3-Clause
"""Runs, on two ranks of one MPI job, the functions of the modules that are named:

    oriel run -n 2 python tests/mpi/python/run.py epochs notified examples

A function whose name begins with `check_` is a test. It is called on all ranks, with a communicator
of its own. A rank in which one fails ends the job."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable

from mpi4py import MPI


def checks_of(name: str) -> list[Callable[[MPI.Intracomm], None]]:
    module = importlib.import_module(name)
    return [each for key, each in vars(module).items() if key.startswith("check_")]


def main(names: list[str]) -> None:
    count = 0
    for name in names:
        for check in checks_of(name):
            comm = MPI.COMM_WORLD.Dup()
            try:
                check(comm)
            except BaseException:
                print(f"rank {comm.rank}, {name}.{check.__name__} failed", flush=True)
                traceback.print_exc()
                sys.stderr.flush()
                MPI.COMM_WORLD.Abort(1)
            comm.Barrier()
            comm.Free()
            count += 1
    if MPI.COMM_WORLD.rank == 0:
        print(f"ok: {count} checks", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
