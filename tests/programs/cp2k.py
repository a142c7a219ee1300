# SPDX-License-Identifier: BSD-3-Clause
"""CP2K of the distribution, whose library for sparse matrices, DBCSR, was asked for one-sided
communication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from debian import FORTRAN_OF_OPENMPI_4, SYSTEM, library_path
from oriel.hosts.host import Host
from program import INPUTS, Number, Program, Task, require


def _command(host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    program = require(SYSTEM / "bin" / "cp2k.psmp", "cp2k")
    data = require(SYSTEM / "share" / "cp2k", "cp2k-data")
    variables = {
        "CP2K_DATA_DIR": str(data),
        "OMP_NUM_THREADS": "1",
        # DBCSR leaves windows alone where it finds "Open MPI v" there.
        "ORIEL_LIBRARY_VERSION": "Oriel",
        **library_path(host, folder),
    }
    return [str(program), str(INPUTS / "water_cp2k.inp")], variables


_ENERGY = (Number("ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:", -68.7118648, 1e-6),)


_task = partial(
    Task, "four waters, DFT", _command, _ENERGY, abis=("openmpi",), debian=("openmpi",), limit_s=300
)

PROGRAM = Program(
    "cp2k",
    "CP2K 2023.1",
    "Debian, `cp2k`",
    (
        _task(2, quick=True),
        _task(4),
    ),
    (FORTRAN_OF_OPENMPI_4,),
)
