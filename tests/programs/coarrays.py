# SPDX-License-Identifier: BSD-3-Clause
"""Fortran's coarrays by the distribution's OpenCoarrays: images are ranks, coarrays are windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from debian import SYSTEM, library_path
from oriel.hosts.host import Host
from program import INPUTS, Program, Task, Words, compile_once, require


def _command(name: str, host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    abi = host.kind.abi
    compiler = require(SYSTEM / "bin" / f"caf.{abi}", f"libcoarrays-{abi}-dev")
    source = INPUTS / f"{name}.f90"
    made = compile_once([compiler, "-O2", source], folder / f"{name}.{abi}", source)
    return [str(made)], library_path(host, folder)


_task = partial(Task, answers=(Words(" right"),), fails_on=("MPICH 5",))
_heat = partial(_task, "heat in a plate", partial(_command, "heat"))
_poisson = partial(_task, "Poisson by conjugate gradients", partial(_command, "poisson"))

PROGRAM = Program(
    "coarrays",
    "OpenCoarrays 2.10",
    "Debian, `libcoarrays-mpich-dev` and `libcoarrays-openmpi-dev`",
    (
        _heat(ranks=2, quick=True),
        _heat(ranks=4),
        _poisson(ranks=2, quick=True),
        _poisson(ranks=4),
        _heat(ranks=4, nodes=2),
    ),
    (
        "On MPICH 5 OpenCoarrays cannot end: `MPI_Comm_free` fails because a message of "
        "OpenCoarrays' own was never received (\"Communicator being freed has 1 unmatched "
        'message(s)"), which MPICH 4.0 does not check. The answer printed before is right.',
    ),
)
