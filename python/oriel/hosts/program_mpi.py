# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program was linked with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from oriel.hosts.host import (
    Host,
    HostError,
    find_hosts,
    find_unsupported,
    host_of_library,
    hosts_at,
)
from oriel.hosts.mpi_kinds import STANDARD_SONAME, kinds_with
from oriel.hosts.needed_libraries import needed_libraries

# Where a Python interpreter finds mpi4py's compiled part, without initializing MPI.
_FIND_MPI4PY = (
    "import importlib.util, pathlib; spec = importlib.util.find_spec('mpi4py');"
    "print(*pathlib.Path(spec.origin).parent.glob('MPI*.so') if spec else [], sep='\\n')"
)


def _mpi_libraries(binary: Path) -> dict[str, Path | None]:
    """MPI sonames that an executable or library needs, each with its file where it is found. Raises
    FileNotFoundError where there is no ldd."""
    found = needed_libraries(binary)
    needed: dict[str, Path | None] = {}
    for soname in filter(kinds_with, found):
        # If ldd does not find it, it is looked for beside the program's other libraries, such as
        # the MPI's Fortran library.
        candidates = [
            found[soname],
            *(path.parent / soname for path in found.values() if path.is_absolute()),
        ]
        file = next((path for path in candidates if path.is_file()), None)
        needed[soname] = file.resolve() if file else None
    return needed


def _python_libraries(interpreter: Path) -> dict[str, Path | None]:
    answer = subprocess.run(
        [interpreter, "-c", _FIND_MPI4PY], capture_output=True, text=True, timeout=60, check=False
    )
    extensions = answer.stdout.split()
    # The wheels of mpi4py bring one extension per MPI and choose when they are imported.
    return _mpi_libraries(Path(extensions[0])) if len(extensions) == 1 else {}


def _host_of(soname: str, library: Path | None, by_srun: bool) -> Host:
    names = [kind.name for kind in kinds_with(soname)]
    # Not /: /bin is a link to /usr/bin, and /usr is one of the folders.
    folders = list(library.parents)[:-1] if library else ()
    beside = (host for folder in folders for host in hosts_at(folder))
    host = next((host for host in beside if host.name in names), None)
    if host is None:
        others = [host for host in (*find_hosts(), *find_unsupported()) if host.has(soname)]
        host = next((host for name in names for host in others if host.name == name), None)
    if host is None and library and by_srun:
        host = host_of_library(library)
    if host is None:
        raise HostError(
            f"The program is linked with {soname}, but the mpiexec of that MPI is neither next to "
            "it nor on PATH. Put it on PATH, or name another MPI of the same ABI with --mpi. In an "
            "allocation of Slurm no mpiexec is needed: `oriel run --launcher srun`."
        )
    if not host.supported:
        host.refuse()
    return host.with_standard_abi() if soname == STANDARD_SONAME else host


def detect_host(program: str, by_srun: bool = False) -> Host:
    """The MPI that the program was linked with; for Python the one of its mpi4py, or, where that
    serves several, the one that is installed in the same environment. `by_srun`: it needs no
    launcher of its own."""
    found = shutil.which(program)
    if found is None:
        raise HostError(
            f"The program {program} is neither an executable file nor on PATH. "
            "Give its path, for example ./stencil."
        )
    path = Path(found)
    try:
        needed = _mpi_libraries(path)
    except FileNotFoundError:
        raise HostError(
            f"There is no ldd on PATH, by which the MPI of {program} is found. Add its folder to "
            "PATH (often /usr/bin), or name the MPI with --mpi, for example --mpi mpich."
        ) from None
    if not needed and path.name.startswith("python"):
        needed = _python_libraries(path)
        beside = [host for host in hosts_at(path.parent.parent) if host.supported]
        if not needed and len({host.name for host in beside}) == 1:
            return beside[0]  # the others are further launchers of the same
    if len(needed) != 1:
        what = "no MPI" if not needed else "several MPIs: " + ", ".join(sorted(needed))
        raise HostError(
            f"{program} is linked with {what}, so the MPI to start it with is not known. "
            "Name it with --mpi, for example --mpi mpich."
        )
    return _host_of(*next(iter(needed.items())), by_srun)


def check_program(program: str, host: Host) -> None:
    """Raises HostError if the program is linked with another MPI's library than this host's. Of a
    script nothing is known."""
    found = shutil.which(program)
    try:
        needed = _mpi_libraries(Path(found)) if found else {}
    except FileNotFoundError:  # of ldd
        return
    if needed and needed.keys().isdisjoint(host.sonames):
        raise HostError(
            f"{program} is linked with {', '.join(sorted(needed))}, but --mpi {host.name} is for "
            f"programs that are linked with {' or '.join(host.sonames)} ({host.title}, "
            f"{host.location}). Leave out --mpi to start it with the MPI that it was built with."
        )
