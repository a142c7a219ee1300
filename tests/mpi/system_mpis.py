# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that the system has, beside those of build/mpi, and how their compilers are called."""

from __future__ import annotations

import subprocess
from pathlib import Path

from oriel.hosts.host import Host, find_hosts, find_shadowed


def hosts_named(name: str) -> list[Host]:
    """All MPIs of this name, those of build/mpi first."""
    return [host for host in (*find_hosts(), *find_shadowed()) if host.name == name]


def of_debian(name: str) -> Host | None:
    """Debian's MPI of this name."""
    return next((host for host in hosts_named(name) if host.prefix == Path("/usr")), None)


def every_mpi() -> list[Host]:
    """Those of build/mpi, and Debian's."""
    found = find_hosts()
    debian = [of_debian(name) for name in ("mpich", "openmpi")]
    return [*found, *[host for host in debian if host and host not in found]]


def link_library(folder: Path, soname: str, library: Path) -> Path:
    """A folder in which this MPI's library has this name too."""
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / soname
    if not link.is_symlink():
        link.symlink_to(library)
    return folder


def library_path(host: Host, folder: Path) -> dict[str, str]:
    """How a program that was built for another version of this MPI finds it, by a link in the
    folder where the library has another name; empty: it was built for this one."""
    if host.prefix != Path("/usr"):
        return {}
    if host.name == "mpich":
        (library,) = host.prefix.glob("lib/*/libmpich.so.12")
        return {"LD_LIBRARY_PATH": str(link_library(folder, "libmpi.so.12", library))}
    (library,) = host.prefix.glob("lib/*/libmpi.so.40")
    return {"LD_LIBRARY_PATH": str(library.parent)}


def wrapper(host: Host, compiler: str) -> Path | None:
    """The wrapper of mpifort or mpicc: as Debian names it, or as all others do."""
    for name in (f"{compiler}.{host.name}", compiler):
        path = host.prefix / "bin" / name
        if path.is_file():
            return path
    return None


def has_f08(host: Host, folder: Path) -> bool:
    """Whether this MPI has mpi_f08 for the Fortran compiler that its wrapper calls."""
    compiler = wrapper(host, "mpifort")
    if compiler is None:
        return False
    (folder / "f08.f90").write_text("use mpi_f08\ncall MPI_Init()\nend program\n", encoding="utf-8")
    words = [str(compiler), "f08.f90", "-o", "f08"]
    environment = host.command(1, [], preload=False)[1]
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, timeout=60, check=False
    )
    return ended.returncode == 0
