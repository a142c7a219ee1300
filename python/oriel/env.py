# SPDX-License-Identifier: BSD-3-Clause
"""`oriel env`: prints the variable that loads Oriel into the ranks of a job.

mpiexec -n 4 env $(oriel env --mpi mpich) ./stencil
"""

from __future__ import annotations

import argparse

from oriel.hosts_mpi import HostError, find_host


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
    library = find_host(parser.parse_args(argv).mpi).library
    if not library.is_file():
        raise HostError(
            f"The library {library} is not there. Build it with `make` or `cmake --build build`."
        )
    print(f"LD_PRELOAD={library}")
    return 0
