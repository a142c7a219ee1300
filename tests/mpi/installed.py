# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that the system has, beside those of build/mpi, and how their compilers are called."""

from __future__ import annotations

from pathlib import Path

from oriel.hosts.host import Host, find_hidden, find_hosts


def hosts_named(name: str) -> list[Host]:
    """All MPIs of this name, those of build/mpi first."""
    return [host for host in (*find_hosts(), *find_hidden()) if host.name == name]


def of_debian(name: str) -> Host | None:
    """Debian's MPI of this name."""
    return next((host for host in hosts_named(name) if host.prefix == Path("/usr")), None)


def wrapper(host: Host, compiler: str) -> Path | None:
    """The wrapper of mpifort or mpicc: as Debian names it, or as all others do."""
    for name in (f"{compiler}.{host.name}", compiler):
        path = host.prefix / "bin" / name
        if path.is_file():
            return path
    return None
