# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of MPI that Oriel runs on, and what distinguishes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

STANDARD_ABI = "abi"
STANDARD_SONAME = "libmpi_abi.so.1"


@dataclass(frozen=True)
class MpiKind:
    """`abi`: of its handles, and of the library that its ranks preload. `sonames`: of the library
    that its C programs load, the usual one first. `other_sonames`: those of builds for one machine
    or compiler, as Cray MPICH's libmpi_gnu_123.so.12; the layers of other languages are not among
    them. `oldest`: the first version that Oriel supports; empty where no older one is known.
    `slurm_plugin`: by which srun and a rank communicate, if the user chooses none."""

    name: str
    title: str
    abi: str
    sonames: tuple[str, ...]
    other_sonames: re.Pattern
    standard_abi: bool  # whether a version of it has STANDARD_SONAME
    oldest: tuple[int, ...]
    slurm_plugin: str
    launcher_banner: re.Pattern  # finds the version in the output of `mpiexec --version`
    library_banner: re.Pattern  # the same in the text of MPI_Get_library_version

    def loads(self, soname: str) -> bool:
        """Whether C programs of a build of this MPI load a library of this name."""
        return soname in self.sonames or self.other_sonames.fullmatch(soname) is not None

    def libraries_in(self, folder: Path) -> list[Path]:
        """The files in a folder that may be this MPI's library, those of the usual names first."""
        others = (file for file in folder.glob("libmpi_*.so.*") if self.loads(file.name))
        files = [*(folder / soname for soname in self.sonames), *sorted(others)]
        return [file for file in files if file.exists()]


MPICH = MpiKind(
    "mpich",
    "MPICH",
    abi="mpich",
    # Debian and Ubuntu give the library another name, which their programs need.
    sonames=("libmpi.so.12", "libmpich.so.12"),
    other_sonames=re.compile(r"libmpi(?!_abi)_\w+\.so\.12"),
    standard_abi=True,
    oldest=(3, 2),  # MPI-3.1
    slurm_plugin="pmi2",
    launcher_banner=re.compile(r"HYDRA build details:\s+Version:\s+(\S+)"),
    # Cray MPICH names the version of MPICH that it is made from.
    library_banner=re.compile(r"(?:MPICH Version:\s+|CRAY MPICH version .*\(ANL base )(\d[\w.]*)"),
)
OPENMPI = MpiKind(
    "openmpi",
    "Open MPI",
    abi="openmpi",
    sonames=("libmpi.so.40",),
    other_sonames=re.compile(r"libmpi_(?!mpifh|usempi|cxx|java)\w+\.so\.40"),
    standard_abi=False,
    oldest=(4, 0),
    slurm_plugin="pmix",
    launcher_banner=re.compile(r"Open(?: MPI|RTE)\)?\s+v?(\d+(?:\.\d+)+)"),
    library_banner=re.compile(r"Open MPI v(\d+(?:\.\d+)+)"),
)
INTEL = MpiKind(
    "intel",
    "Intel MPI",
    abi="mpich",
    sonames=("libmpi.so.12",),
    other_sonames=re.compile(r"(?!)"),
    standard_abi=True,
    oldest=(),
    slurm_plugin="pmi2",
    launcher_banner=re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\d+(?:\.\d+)+)", re.S),
    library_banner=re.compile(r"Intel\(R\) MPI Library (\d+(?:\.\d+)*)"),
)

KINDS = (MPICH, OPENMPI, INTEL)
NAMES = tuple(kind.name for kind in KINDS)
# For programs that are linked with STANDARD_SONAME; "abi" is the first MPI found that has it.
STANDARD_NAMES = (
    *(f"{kind.name}-{STANDARD_ABI}" for kind in KINDS if kind.standard_abi),
    STANDARD_ABI,
)


def kind_of(name: str) -> MpiKind:
    """`name`: one of NAMES, also with -abi."""
    return next(kind for kind in KINDS if kind.name == name.removesuffix(f"-{STANDARD_ABI}"))


def kinds_with(soname: str) -> list[MpiKind]:
    """The MPIs whose programs need a library of this name. MPICH and Intel MPI share theirs."""
    return [
        kind
        for kind in KINDS
        if kind.loads(soname) or (kind.standard_abi and soname == STANDARD_SONAME)
    ]
