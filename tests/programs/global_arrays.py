# SPDX-License-Identifier: BSD-3-Clause
"""Global Arrays over ARMCI-MPI, as the distribution has both: static libraries. The package has
none of Global Arrays' own tests; the program is of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from debian import library, library_path, wrapper
from oriel.hosts.host import Host
from program import INPUTS, Program, Task, Words, compile_once


def _command(host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    abi = host.kind.abi
    source = INPUTS / "global_arrays.c"
    libraries = [
        library(f"libga-{abi}.a", "libglobalarrays-dev"),
        library(f"libarmci-{abi}.a", "libarmci-mpi-dev"),
        library(f"libscalapack-{abi}.so.2.2", f"libscalapack-{abi}2.2"),
        library("liblapack.so.3", "liblapack3"),
        library("libblas.so.3", "libblas3"),
    ]
    # The source goes before what it needs.
    words = [wrapper("mpicc", abi), "-O2", source, *libraries, "-lgfortran", "-lm"]
    made = compile_once(words, folder / f"global_arrays.{abi}", source)
    return [str(made)], library_path(host, folder)


_RIGHT = (Words("Global Arrays: all right"),)

PROGRAM = Program(
    "global_arrays",
    "Global Arrays 5.8.2",
    "Debian, `libglobalarrays-dev` and `libarmci-mpi-dev`",
    (
        Task("patches, counters, products", _command, _RIGHT, 2, quick=True),
        Task("patches, counters, products", _command, _RIGHT, 4),
        Task("patches, counters, products", _command, _RIGHT, 4, nodes=2),
    ),
)
