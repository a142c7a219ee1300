# SPDX-License-Identifier: BSD-3-Clause
"""NWChem of the distribution: quantum chemistry on Global Arrays, which are windows here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from debian import FORTRAN_OF_OPENMPI_4, SYSTEM, library_path
from oriel.hosts.host import Host
from program import INPUTS, Number, Program, Task, require

SCF = Number("Total SCF energy", -76.010538615917, 1e-8)
MP2 = Number("Total MP2 energy", -76.198992412776, 1e-8)
# The iterations end at a residuum of 1e-6.
CCSD_T = Number("Total CCSD(T) energy", -76.2096722, 1e-6)


def command(name: str, host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    """What each rank runs with an input, and the variables that it needs."""
    package = f"nwchem-{host.kind.abi}"
    program = require(SYSTEM / "bin" / f"nwchem.{host.kind.abi}", package)
    return [str(program), str(INPUTS / name)], library_path(host, folder)


_mp2 = partial(
    Task, "water, SCF and MP2", partial(command, "water.nw"), (SCF, MP2), debian=("openmpi",)
)
_ccsd_t = partial(
    Task, "water, CCSD(T)", partial(command, "water_ccsd_t.nw"), (SCF, CCSD_T), debian=("openmpi",)
)

PROGRAM = Program(
    "nwchem",
    "NWChem 7.0.2",
    "Debian, `nwchem-mpich` and `nwchem-openmpi`",
    (
        _mp2(2, quick=True),
        _mp2(4),
        _ccsd_t(2, quick=True),
        _ccsd_t(4),
        _mp2(4, nodes=2),
    ),
    (FORTRAN_OF_OPENMPI_4,),
)
