# SPDX-License-Identifier: BSD-3-Clause
"""G10: Fortran programs, by each binding of each MPI that has one for gfortran. Nothing of theirs
is Oriel's: `oriel run` starts them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIMIT_SECONDS, oriel, output_of
from oriel.hosts.host import Host
from system_mpis import hosts_named, of_debian, wrapper

SOURCE = Path(__file__).resolve().parent / "fortran" / "windows.F90"
# Binding -> what the program is told.
BINDINGS = {"mpi_f08": "BY_F08", "mpi": "BY_MODULE", "mpif.h": "BY_MPIF"}
# Before Fortran 2018 a buffer of any type has no declaration.
WORDS = ["-fallow-argument-mismatch", "-w", "-O2"]
RUNS = [
    *[(name, binding) for name in ("mpich", "openmpi") for binding in BINDINGS],
    ("intel", "mpi"),
    ("intel", "mpif.h"),
]


def compiler_of(host: Host) -> list[str] | None:
    """The command that compiles a program for this MPI; None: it has no Fortran."""
    if host.name != "intel":
        found = wrapper(host, "mpifort")
        return [str(found)] if found else None
    libraries, headers = host.prefix / "lib", host.prefix / "include"
    # Its own wrapper does not find the wheel's folders. The form of modules is that of gfortran 12.
    words = [
        "gfortran",
        f"-I{headers}",
        *(f"-I{each}" for each in headers.glob("mpi/gfortran/12*")),
    ]
    return [*words, f"-L{libraries}", f"-Wl,-rpath,{libraries}"]


def compile_for(host: Host, binding: str, folder: Path, source: Path = SOURCE) -> Path | None:
    """The program; None: this MPI does not have the binding for this compiler."""
    command = compiler_of(host)
    if command is None:
        return None
    large = binding == "mpi_f08" and host.name == "mpich"
    words = [*command, *WORDS, f"-D{BINDINGS[binding]}", *(["-DLARGE_COUNTS"] if large else [])]
    words += ["-DSHORT_NAMES"] if binding == "mpi_f08" and host.name == "openmpi" else []
    program = folder / source.stem
    words += [str(source), "-o", str(program)]
    words += ["-lmpifort", "-lmpi"] if host.name == "intel" else []
    environment = host.command(1, [], preload=False)[1]
    ended = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    lacking = re.search(
        r"(Cannot open|Fatal Error: Cannot read) (module|included) file", ended.stderr
    )
    assert ended.returncode == 0 or lacking, ended.stderr[-4000:]
    return program if ended.returncode == 0 else None


@pytest.fixture(scope="module", params=RUNS, ids="-".join)
def built(request, tmp_path_factory) -> tuple[Host, Path]:
    """The first MPI of a name that has the binding, and the program."""
    name, binding = request.param
    if request.config.getoption("sanitized"):
        pytest.skip("The library with sanitizers is not built for every MPI that has Fortran.")
    if shutil.which("gfortran") is None:
        pytest.skip("There is no gfortran on this machine.")
    for host in hosts_named(name):
        program = compile_for(host, binding, tmp_path_factory.mktemp(name))
        if program is not None:
            return host, program
    pytest.skip(f"No {name} on this machine has {binding} for gfortran.")


def test_windows(built):
    """`oriel run` finds the MPI, and Oriel makes each window."""
    _, program = built
    ended = oriel("run", "-n", 2, "--info", program)
    assert ended.returncode == 0 and "\nok\n" in f"\n{ended.stdout}", ended.stdout + ended.stderr
    made = set(re.findall(r"oriel: window \d+, made by (\w+)", ended.stdout + ended.stderr))
    kinds = {"create", "allocate", "allocate_shared", "create_dynamic"}
    assert {f"MPI_Win_{kind}" for kind in kinds} <= made


def test_windows_by_messages(job, built):
    """As between nodes: what is put lies in the program's memory until it has been sent."""
    host, program = built
    status, output = job.run_command(host, [program], 3, {"ORIEL_VM": "0", "ORIEL_INFO": "1"})
    assert status == 0 and "\nok\n" in f"\n{output}", output[-4000:]
    created = re.findall(r"made by MPI_Win_create, 3 ranks: (.*)", output)
    assert created and all("by messages" in path for path in created), output[-4000:]


# A library in Fortran that a program loads for itself, as Python loads an extension.
LIBRARY = """\
subroutine attributes() bind(C, name="attributes")
  use mpi
  implicit none
  integer :: memory(10), win, key, ierror
  integer(MPI_ADDRESS_KIND) :: bytes
  logical :: flag
  call MPI_Init(ierror)
  call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag, ierror)
  print '(a, i0)', 'size ', bytes
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, bytes, ierror)
  call MPI_Win_set_attr(win, key, 7_MPI_ADDRESS_KIND, ierror)
  call MPI_Win_get_attr(win, key, bytes, flag, ierror)
  print '(a, i0)', 'own ', bytes
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
end subroutine
"""


@pytest.mark.parametrize("name", ("mpich", "openmpi"))
def test_a_layer_that_nobody_else_sees(job, tmp_path, name):
    """Oriel answers, and finds the layer's own function for what it does not know."""
    host = of_debian(name)
    if host is None or wrapper(host, "mpifort") is None:
        pytest.skip(f"Debian's {name} with Fortran is not installed.")
    (tmp_path / "attributes.f90").write_text(LIBRARY, encoding="utf-8")
    words = [wrapper(host, "mpifort"), "-shared", "-fPIC", "attributes.f90", "-o", "library.so"]
    output_of([str(word) for word in words], host.command(1, [], preload=False)[1], 60, tmp_path)
    code = f"import ctypes; ctypes.CDLL('{tmp_path}/library.so').attributes()"
    status, output = job.run_command(host, [sys.executable, "-c", code], 1)
    assert status == 0 and "size 40" in output and "own 7" in output, output[-4000:]
