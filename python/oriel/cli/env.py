# SPDX-License-Identifier: BSD-3-Clause
"""`oriel env`: prints the variables that load Oriel into the ranks of a job: the library, and where
it finds its MPI if a rank is a program that lists none, such as a shell or Python.

mpiexec -n 4 env $(oriel env --mpi mpich) ./stencil
"""

from __future__ import annotations

import argparse

from oriel.hosts.host import HostError, find_host


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="oriel env",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--mpi",
        required=True,
        metavar="NAME",
        help="mpich, openmpi, intel, mpich-abi, intel-abi or abi",
    )
    host = find_host(parser.parse_args(argv).mpi)
    variables = {"LD_PRELOAD": host.preloadable(), **host.library_path()}
    for name, value in variables.items():
        if value.split() != [value]:
            raise HostError(
                f"{name} has a space in it, at which a shell would separate it: {value}. Set it "
                "yourself, or start the program with `oriel run`."
            )
    for name, value in variables.items():
        print(f"{name}={value}")
    return 0
