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
# A flavor and a synchronization with which PETSc itself is wrong.
_RACES = (("shared", "lock"),)


def _command(
    flavor: str, sync: str, host: Host, folder: Path
) -> tuple[Sequence[str], Mapping[str, str]]:
    source = INPUTS / "star_forest.c"
    own = next(SYSTEM.glob("lib/petscdir/petsc3.*/*-real/include"), None)
    if own is None:
        raise Missing(f"PETSc's headers are not there; install {_PACKAGE}")
    words = [wrapper("mpicc", "openmpi"), "-O2", f"-I{own}", "-I/usr/include/petsc", source]
    words += [library("libpetsc_real.so", _PACKAGE)]
    made = compile_once(words, folder / "star_forest.openmpi", source)
    options = ["-sf_window_flavor", flavor, "-sf_window_sync", sync]
    return [str(made), *options], library_path(host, folder)


_RIGHT = (Words("star forest: 0 wrong leaves, 0 wrong roots"),)

PROGRAM = Program(
    "star_forest",
    "PETSc 3.18",
    "Debian, `libpetsc-real3.18-dev`",
    tuple(
        Task(
            f"star forest, {flavor}, {sync}",
            partial(_command, flavor, sync),
            _RIGHT,
            4,
            quick=flavor == "create",
            limit_s=60,
            abis=("openmpi",),
            debian=("openmpi",),
        )
        for flavor in ("create", "shared")
        for sync in ("fence", "lock", "active")
        if (flavor, sync) not in _RACES
    ),
    (
        "Debian's PETSc loads `libmpi_cxx.so.40`, which Open MPI 5 does not have: it runs on Open "
        "MPI 4.1 only. It was built without dynamic and allocated windows.",
        "Shared windows with locks are left out. No rank waits there until the others have copied "
        "their roots into the window: leaves are wrong alone and with Oriel.",
    ),
)
