# SPDX-License-Identifier: BSD-3-Clause
"""Tests of reported faults, and the circumstances in which a library that has the fault shows it: a
number of ranks and nodes, settings, limits of the machine."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROGRAMS = ("reported", "reported_now")
FORTRAN = FOLDER / "fortran" / "reported.F90"


@dataclasses.dataclass(frozen=True)
class Circumstances:
    """`little_shm`: /dev/shm has 8 MB. `hosts`: names of the MPIs that the report is about; empty:
    all."""

    ranks: int = 2
    nodes: int = 1
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    little_shm: bool = False
    hosts: tuple[str, ...] = ()


LITTLE_SHM_MEBIBYTES = 8
OVER_LIBFABRIC = {
    "OMPI_MCA_pml": "cm",
    "OMPI_MCA_mtl": "ofi",
    "OMPI_MCA_mtl_ofi_provider_include": "tcp",
}
# The number of a report -> its circumstances. The tests of reported.cpp take four ranks.
_SPECIAL = {
    "ompi#13298": Circumstances(settings=OVER_LIBFABRIC, hosts=("openmpi",)),
    "ompi#13070": Circumstances(),
    "mpich#6994": Circumstances(4),
    "mpich#6362": Circumstances(3),
    "ompi#1666": Circumstances(nodes=2),
    "libfabric#6706": Circumstances(nodes=2),
    "ompi#7617": Circumstances(settings={"ORIEL_TEST_EPOCHS": "20000"}),
    "OpenCoarrays#411": Circumstances(nodes=2),
    "mpich#7381": Circumstances(nodes=2),
    # MPICH 4.0 over shared memory does not start.
    "ga#254": Circumstances(settings={"UCX_TLS": "tcp,self"}, little_shm=True),
    "ompi#4948": Circumstances(settings={"ORIEL_TEST_NO_PROCESS_VM": "1"}),
}


def circumstances(program: str, test: str) -> Circumstances:
    usual = Circumstances(4) if program == "reported" else Circumstances()
    return _SPECIAL.get(test.split()[0], usual)


def tests_of(source: Path) -> Iterator[str]:
    """The names of the tests of a program, which begin with the number of a report."""
    yield from re.findall(r"""["']([\w-]+#\d+ .*?)["']""", source.read_text(encoding="utf-8"))
