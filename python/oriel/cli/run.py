# SPDX-License-Identifier: BSD-3-Clause
"""`oriel run`: starts an MPI program with Oriel, on the MPI that the program was built with.

The exit status is that of the launcher; 125 where the launcher's is 0, Oriel was asked for and the
ranks ran without it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from oriel.hosts.host import (
    Host,
    HostError,
    find_host,
    find_hosts,
    find_unsupported,
    hosts_at,
)
from oriel.hosts.load_report import LoadReport
from oriel.hosts.nodes import across
from oriel.hosts.run_statistics import RunStatistics

# With this status env and timeout, too, say that it was not the program which failed.
WITHOUT_ORIEL = 125

# Which MPI a library's soname belongs to. MPICH and Intel MPI share theirs.
_SONAMES = {
    "libmpi.so.12": ("mpich", "intel"),
    "libmpich.so.12": ("mpich",),
    "libmpi.so.40": ("openmpi",),
    "libmpi_abi.so.1": ("mpich", "intel"),
}
_STANDARD_SONAME = "libmpi_abi.so.1"

# Where a Python interpreter finds mpi4py's compiled part, without initializing MPI.
_FIND_MPI4PY = (
    "import importlib.util, pathlib; spec = importlib.util.find_spec('mpi4py');"
    "print(*pathlib.Path(spec.origin).parent.glob('MPI*.so') if spec else [], sep='\\n')"
)


def _mpi_libraries(binary: Path) -> dict[str, Path | None]:
    """MPI sonames that an executable or library needs, each with its file where it is found."""
    answer = subprocess.run(
        ["ldd", binary], capture_output=True, text=True, timeout=30, check=False
    )
    lines = [line.strip().partition(" => ") for line in answer.stdout.splitlines()]
    found = {soname: Path(rest.rpartition(" (")[0]) for soname, arrow, rest in lines if arrow}
    needed: dict[str, Path | None] = {}
    for soname in found.keys() & _SONAMES:
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


def _host_of(soname: str, library: Path | None) -> Host:
    names = _SONAMES[soname]
    # Not /: /bin is a link to /usr/bin, and /usr is one of the folders.
    folders = library.parents[:-1] if library else ()
    beside = (host for folder in folders for host in hosts_at(folder))
    host = next((host for host in beside if host.name in names), None)
    if host is None:
        others = [host for host in (*find_hosts(), *find_unsupported()) if host.has(soname)]
        host = next((host for name in names for host in others if host.name == name), None)
    if host is None:
        raise HostError(
            f"The program is linked with {soname}, but the mpiexec of that MPI is neither next to "
            "it nor on PATH. Put it on PATH, or name another MPI of the same ABI with --mpi."
        )
    if not host.supported:
        host.refuse()
    return host.with_standard_abi() if soname == _STANDARD_SONAME else host


def detect_host(program: str) -> Host:
    """The MPI that the program was linked with; for Python the one of its mpi4py."""
    found = shutil.which(program)
    if found is None:
        raise HostError(
            f"The program {program} is neither an executable file nor on PATH. "
            "Give its path, for example ./stencil."
        )
    path = Path(found)
    needed = _mpi_libraries(path)
    if not needed and path.name.startswith("python"):
        needed = _python_libraries(path)
    if len(needed) != 1:
        what = "no MPI" if not needed else "several MPIs: " + ", ".join(sorted(needed))
        raise HostError(
            f"{program} is linked with {what}, so the MPI to start it with is not known. "
            "Name it with --mpi, for example --mpi mpich."
        )
    return _host_of(*next(iter(needed.items())))


def _is_script(program: str) -> bool:
    try:
        with open(shutil.which(program) or program, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:  # a program may be executed without being readable
        return False


def _judge(report: LoadReport, host: Host, program: str) -> int:
    """The exit status of a run that ended well and should have been one with Oriel."""
    if report.never_loaded():
        print(
            f"oriel run: {program} ran without Oriel: the loader did not load {host.library} into "
            "it. Into a program that is statically linked or setuid nothing can be preloaded: link "
            "it dynamically, or with Oriel.",
            file=sys.stderr,
        )
        return WITHOUT_ORIEL
    if report.never_started_mpi() and _is_script(program):
        print(
            f"oriel run: The script {program} was started with Oriel, but no process that has "
            "Oriel in it started MPI. If it starts an MPI program, that ran without Oriel: leave "
            "LD_PRELOAD in its environment, and link it dynamically.",
            file=sys.stderr,
        )
    return 0


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="oriel run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of ranks")
    parser.add_argument(
        "--mpi",
        metavar="NAME",
        help="mpich, openmpi, intel, mpich-abi, intel-abi or abi (default: what PROGRAM needs)",
    )
    parser.add_argument("--no-oriel", action="store_true", help="without Oriel, to compare")
    parser.add_argument(
        "--info",
        action="store_true",
        help="print which path each window takes (ORIEL_INFO=1), and at the end what the ranks did",
    )
    parser.add_argument(
        "--hosts",
        type=int,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes that are made of network namespaces of this machine, "
        "to try a program across nodes without a cluster (takes root; default: 1, this machine)",
    )
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    if given.n < 1:
        parser.error(f"-n {given.n}: the number of ranks is at least 1.")
    host = find_host(given.mpi) if given.mpi else detect_host(given.program)
    settings = {"ORIEL_INFO": "1"} if given.info else {}
    if given.hosts < 1:
        parser.error(f"--hosts {given.hosts}: the number of nodes is at least 1.")
    program = [given.program, *given.arguments]
    asked = not given.no_oriel
    with across(given.hosts) as nodes, LoadReport() if asked else nullcontext() as report:
        command, environment = host.command(given.n, program, asked, settings, nodes, report)
        status = subprocess.run(command, env=environment, check=False).returncode
        if given.info and report:
            RunStatistics(report.folder).print(sys.stderr)
        if status == 0 and report:
            return _judge(report, host, given.program)
    return status if status >= 0 else 128 - status
