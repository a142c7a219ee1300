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
    if not host.library.is_file():
        raise HostError(
            f"The library {host.library} is not there. Build it with `make` or "
            "`cmake --build build`."
        )
    print(f"LD_PRELOAD={host.library}")
    for name, value in host.library_path().items():
        print(f"{name}={value}")
    return 0
