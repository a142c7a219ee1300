# SPDX-License-Identifier: BSD-3-Clause
"""What a user with one MPI does (G1): install by pip from the sources, or by CMake what has been
built, and use it from a program of their own by the CMake package, by pkg-config and by the
installed command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import output_of
from oriel import __version__
from oriel.hosts.host import HostError, find_host
from system_mpis import has_f08, of_debian, wrapper

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 400

PROJECT = f"""\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(oriel {__version__} REQUIRED)
add_executable(user user.c)
# MPI first, as many projects have it.
target_link_libraries(user PRIVATE MPI::MPI_C oriel::oriel)
"""

PROGRAM = """\
#include <mpi.h>
#include <oriel/profiling.h>
#include <stdio.h>

/* A tool's. */
static int wrapped = 0;
int ORIEL_Win_ifence(int assertion, MPI_Win win, MPI_Request* request) {
  ++wrapped;
  return PORIEL_Win_ifence(assertion, win, request);
}

int main(int argc, char** argv) {
  int rank, value = 42, *base;
  MPI_Win win;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  ORIEL_Win_ifence(MPI_MODE_NOSUCCEED, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) printf("ok: rank 1 has %d, %d call wrapped\\n", *base, wrapped);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
"""

FORTRAN_PROJECT = f"""\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C Fortran)
find_package(oriel {__version__} REQUIRED COMPONENTS Fortran)
add_executable(ring ring.f90)
target_link_libraries(ring PRIVATE oriel::fortran)
"""


def environment(host) -> dict[str, str]:
    # Our own tools first: the MPIs' folders have a Python as well, without our packages.
    tools = f"{Path(sys.executable).parent}:{host.prefix / 'bin'}"
    _, environ = host.command(2, [])
    environ.pop("PYTHONPATH", None)  # of the source tree
    return {**environ, "PATH": f"{tools}:{os.environ['PATH']}", "MPI_HOME": str(host.prefix)}


def call(host, *words, cwd=None) -> str:
    return output_of([str(word) for word in words], environment(host), LIMIT_SECONDS, cwd)


def install_by_cmake(host, build: Path, prefix: Path) -> None:
    """The build tree of all three MPIs, configured for another prefix."""
    call(host, "cmake", "--install", REPOSITORY / "build", "--prefix", prefix)


def install_by_pip(host, build: Path, prefix: Path) -> None:
    """From a source distribution, into a virtual environment."""
    write = "import sys, scikit_build_core.build as b; print(b.build_sdist(sys.argv[1]))"
    call(host, sys.executable, "-c", write, build, cwd=REPOSITORY)
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
    (source,) = build.glob("oriel-*.tar.gz")
    pip = (sys.executable, "-m", "pip", "wheel", *quiet, "--no-build-isolation")
    # How fast the library is does not matter here, and without most of -O3 it is sooner there.
    quick = "--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
    call(host, *pip, source, quick, "--wheel-dir", build)
    call(host, sys.executable, "-m", "venv", prefix)
    (wheel,) = build.glob("oriel-*.whl")
    call(host, prefix / "bin" / "python", "-m", "pip", "install", *quiet, wheel)


# Of each host all tests in one worker, which has built and installed it.
HOSTS = [
    pytest.param((name, install), id=name, marks=pytest.mark.xdist_group(f"install-{name}"))
    for name, install in (("mpich", install_by_pip), ("openmpi", install_by_cmake))
]


@pytest.fixture(scope="module", params=HOSTS)
def installed(request, tmp_path_factory):
    """(host, prefix) of an installation for one MPI."""
    name, install = request.param
    try:
        host = find_host(name)
    except HostError as error:
        pytest.skip(str(error))
    prefix = tmp_path_factory.mktemp("prefix")
    install(host, tmp_path_factory.mktemp("build"), prefix)
    return host, prefix


def run_user_program(host, program):
    argv, environ = host.command(2, [program], preload=False)
    output = output_of(argv, environ, limit_s=60)
    assert "ok: rank 1 has 42, 1 call wrapped" in output, output[-4000:]


def test_cmake_package(installed, tmp_path):
    host, prefix = installed
    (tmp_path / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    call(host, "cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    call(host, "cmake", "--build", tmp_path / "build")
    run_user_program(host, tmp_path / "build" / "user")


def test_pkg_config(installed, tmp_path):
    host, prefix = installed
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    package = f"oriel-{host.name}"
    found = next(prefix.glob(f"lib*/**/{package}.pc"))
    command = ("env", f"PKG_CONFIG_PATH={found.parent}", "pkg-config")
    flags = call(host, *command, "--cflags", "--libs", package).split()
    call(host, host.prefix / "bin" / "mpicc", "user.c", *flags, "-o", "user", cwd=tmp_path)
    run_user_program(host, tmp_path / "user")
    # Other libraries are not taken from the folder of Oriel's.
    assert not any(flag.startswith("-L") for flag in flags)


def test_pkg_config_of_another_mpi(installed, tmp_path):
    """The program does not compile."""
    host, prefix = installed
    other = "oriel-mpich" if host.name == "openmpi" else "oriel-openmpi"
    found = next(prefix.glob(f"lib*/**/{other}.pc"), None)
    if found is None or shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed, or this installation serves one MPI")
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    command = ("env", f"PKG_CONFIG_PATH={found.parent}", "pkg-config", "--cflags", other)
    flags = call(host, *command).split()
    ended = subprocess.run(
        [host.prefix / "bin" / "mpicc", *flags, "-c", "user.c"],
        cwd=tmp_path,
        env=environment(host),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert "mpi.h is not of this package's MPI: take oriel-mpich" in ended.stderr


def test_cmake_package_without_a_folder_of_mpi_h(installed, tmp_path):
    """The compiler finds mpi.h by itself: the project says which ABI it has, or CMake ends."""
    host, prefix = installed
    # By their names: lib64 of a virtual environment is its lib.
    if len({path.name for path in prefix.glob("lib*/liboriel_*.so")}) == 1:
        pytest.skip("this installation serves one MPI")
    (tmp_path / "CMakeLists.txt").write_text(
        PROJECT.replace("find_package(MPI REQUIRED COMPONENTS C)", "set(MPI_FOUND TRUE)"),
        encoding="utf-8",
    )
    (tmp_path / "user.c").touch()
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    options = {"env": environment(host), "capture_output": True, "text": True, "timeout": 120}
    ended = subprocess.run([str(word) for word in words], **options, check=False)
    told = " ".join(ended.stderr.split())
    assert ended.returncode != 0 and "so its ABI is not known: set ORIEL_ABI to mpich" in told
    words.append(f"-DORIEL_ABI={host.name}")
    ended = subprocess.run([str(word) for word in words], **options, check=False)
    # The project names the target of FindMPI, which it has not called.
    assert "ORIEL_ABI" not in ended.stderr


def test_linked_behind_the_mpi(installed, tmp_path):
    """The program's calls of MPI then go past Oriel, which the first other call says."""
    host, prefix = installed
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    library = next(prefix.glob(f"lib*/{host.library.name}"))
    ordered = ("-Wl,--no-as-needed", "-lmpi", library, f"-Wl,-rpath,{library.parent}")
    include = f"-I{prefix / 'include'}"
    mpicc = host.prefix / "bin" / "mpicc"
    call(host, mpicc, include, "user.c", *ordered, "-o", "user", cwd=tmp_path)
    argv, environ = host.command(2, [tmp_path / "user"], preload=False)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode != 0
    assert "link Oriel in front of MPI, or start the program with oriel run" in ended.stderr


@pytest.mark.parametrize("kind", ["cmake", "make"])
def test_new_project(installed, kind, tmp_path):
    """The commands that `oriel new` prints build its project and run it, as they are."""
    host, prefix = installed
    if kind == "make" and shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    path = f"PATH={prefix / 'bin'}:{environment(host)['PATH']}"
    steps = call(host, "env", path, "oriel", "new", "circle", "--with", kind, cwd=tmp_path)
    told = call(host, "env", path, "sh", "-e", "-c", steps, cwd=tmp_path)
    assert [f"ok: rank {rank} of 4 has the sum 6" in told for rank in range(4)] == [True] * 4, told


def test_fortran_module(installed, tmp_path):
    """The module comes as a source, which CMake compiles in the user's project."""
    host, prefix = installed
    source = prefix / "share" / "oriel" / "fortran" / "oriel.f90"
    assert "module oriel" in source.read_text(encoding="utf-8")
    if shutil.which("pkg-config") is not None:
        package = f"oriel-{host.name}"
        found = next(prefix.glob(f"lib*/**/{package}.pc"))
        variables = ("env", f"PKG_CONFIG_PATH={found.parent}", "pkg-config")
        told = call(host, *variables, "--variable=fortran_module", package).strip()
        assert Path(told).resolve() == source.resolve()
    # The wheels have no Fortran. Debian's Open MPI needs the same library of Oriel's.
    debian = of_debian(host.name)
    if host.name != "openmpi" or debian is None or not has_f08(debian, tmp_path):
        pytest.skip(f"No {host.name} that takes this library has mpi_f08 for gfortran.")
    (tmp_path / "CMakeLists.txt").write_text(FORTRAN_PROJECT, encoding="utf-8")
    shutil.copy(REPOSITORY / "programs" / "fortran" / "ring.f90", tmp_path)
    build = tmp_path / "build"
    compiler = f"-DMPI_Fortran_COMPILER={wrapper(debian, 'mpifort')}"
    call(debian, "cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", compiler)
    call(debian, "cmake", "--build", build)
    argv, environ = debian.command(2, [build / "ring"], preload=False)
    assert "ok: " in output_of(argv, environ, limit_s=60)


def test_installed_command(installed):
    host, prefix = installed
    program = REPOSITORY / "build" / "tests" / "mpi" / host.name / "fence"
    output = call(host, prefix / "bin" / "oriel", "run", "--mpi", host.name, "-n", "2", program)
    assert "ok: " in output
    assert str(prefix) in call(host, prefix / "bin" / "oriel", "env", "--mpi", host.name)
    for command in ("run", "doctor"):
        assert "usage:" in call(host, prefix / "bin" / "oriel", command, "--help")
    assert os.access(next(prefix.glob("lib*/**/rsh-node")), os.X_OK)
    assert (next(prefix.glob("lib*/**/programs")) / host.name / "patterns").is_file()


def module_command(name: str) -> list[Path | str]:
    """Which reads modulefiles and prints what a shell has to do."""
    if name == "lmod":  # scripts/setup unpacks it into build
        roots = (REPOSITORY / "build" / "lmod", Path("/"))
        found = [each for root in roots for each in root.glob("usr/share/lmod/*/libexec/lmod")]
        return ["lua5.3", found[0]] if found and shutil.which("lua5.3") else []
    return sorted(Path("/usr/lib").glob("*/modulecmd.tcl"))[:1]


@pytest.mark.parametrize("name", ["environment-modules", "lmod"])
def test_module(installed, name):
    """`module load` finds the command and the pages, and preloads nothing."""
    host, prefix = installed
    command = module_command(name)
    if not command:
        pytest.skip(f"{name} is not installed")
    folder = prefix / "share" / "oriel" / "modulefiles"
    # Without modules of the machine's own.
    plain = ("env", "-i", "PATH=/usr/bin:/bin", f"MODULEPATH={folder}")
    loaded = call(host, *plain, *command, "bash", "load", "oriel")
    assert "LD_PRELOAD" not in loaded
    told = call(host, *plain, "bash", "-c", f"{loaded}\nwhich oriel && echo $MANPATH")
    command_path, pages = told.split()
    assert command_path == f"{prefix}/bin/oriel"
    # An empty element at the end: the system's own pages stay.
    assert pages.rstrip(":") == f"{prefix}/share/man" and pages.endswith(":")
    assert "Nothing is preloaded" in call(host, *plain, *command, "bash", "help", "oriel")
    if (prefix / "bin" / "python").is_file():  # a wheel's, which has the package without a module
        return
    python = f"{loaded}\n{sys.executable} -c 'import oriel; print(oriel.__file__)'"
    assert call(host, *plain, "bash", "-c", python).startswith(str(prefix))


def test_cpp_headers(installed):
    _, prefix = installed
    folders = (REPOSITORY / "include", prefix / "include")
    ours, theirs = ({path.relative_to(each) for path in each.glob("**/*.hpp")} for each in folders)
    assert ours and ours == theirs


def test_man_pages(installed):
    _, prefix = installed
    pages = {path.name for path in (prefix / "share" / "man" / "man3").iterdir()}
    assert {"ORIEL_Put_notify.3", "ORIEL_Rput_notify_c.3", "ORIEL_Win_iwait.3"} <= pages
    assert len(pages) > 80
    pages = {path.name for path in (prefix / "share" / "man" / "man1").iterdir()}
    assert {"oriel.1", "oriel-run.1", "oriel-doctor.1"} <= pages
    for script in (
        "bash-completion/completions/oriel",
        "zsh/site-functions/_oriel",
        "fish/vendor_completions.d/oriel.fish",
    ):
        assert (prefix / "share" / script).is_file()
