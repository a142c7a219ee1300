# SPDX-License-Identifier: BSD-3-Clause
"""`oriel env`: prints LD_PRELOAD and, unless the MPI is in /usr, LD_LIBRARY_PATH. They load Oriel
into the ranks of a job. A rank that is not itself linked with MPI, such as a shell or Python, needs
the second.

    mpiexec -n 4 env $(oriel env --mpi mpich) ./stencil
"""

from __future__ import annotations

import argparse

from oriel.hosts.host import HostError, find_host
from oriel.hosts.mpi_option import add_mpi_option


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel env",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mpi_option(parser, "", standard_abi=True, required=True)
    return parser


def main(argv: list[str]) -> int:
    host = find_host(make_parser().parse_args(argv).mpi)
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
