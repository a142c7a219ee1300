# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's star forests over windows, of each flavor and with each synchronization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from debian import SYSTEM, library, library_path, wrapper
from oriel.hosts.host import Host
from program import INPUTS, Missing, Program, Task, Words, compile_once

_PACKAGE = "libpetsc-real3.18-dev"


def _command(flavor: str, host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    source = INPUTS / "star_forest.c"
    own = next(SYSTEM.glob("lib/petscdir/petsc3.*/*-real/include"), None)
    if own is None:
        raise Missing(f"PETSc's headers are not there; install {_PACKAGE}")
    words = [wrapper("mpicc", "openmpi"), "-O2", f"-I{own}", "-I/usr/include/petsc", source]
    words += [library("libpetsc_real.so", _PACKAGE)]
    made = compile_once(words, folder / "star_forest.openmpi", source)
    command = [str(made), "-sf_type", "window", "-sf_window_flavor", flavor]
    return command, library_path(host, folder)


_RIGHT = (Words("star forest: all right"),)

PROGRAM = Program(
    "star_forest",
    "PETSc 3.18",
    "Debian, `libpetsc-real3.18-dev`",
    tuple(
        Task(
            f"star forest, {flavor} windows, all synchronizations",
            partial(_command, flavor),
            _RIGHT,
            4,
            quick=flavor == "create",
            limit_s=60,
            abis=("openmpi",),
            debian=("openmpi",),
        )
        for flavor in ("create", "dynamic", "allocate", "shared")
    ),
    (
        "Debian's PETSc loads `libmpi_cxx.so.40`, which Open MPI 5 has no more: it runs on Open "
        "MPI 4.1 only.",
    ),
)
