# SPDX-License-Identifier: BSD-3-Clause
"""G9: MPICH 4.0 and Open MPI 4.1, as Debian 12 has them. The programs are those that were built
for MPICH 5 and Open MPI 5, whose ABI is the same; test_fortran.py has one that is built for
these."""

from __future__ import annotations

import pytest
from conftest import oriel, output_of, programs_folder
from system_mpis import library_path, of_debian, wrapper

# A put outside of epochs, which ends the program, or with an argument not.
PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int* memory = NULL;
  int value = 1;
  MPI_Win win;
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (argc > 1) MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  if (argc > 1) MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  puts("ok");
  return 0;
}
"""

# What runs on both, on two ranks. Not among them: `sessions` and `lifespan` (Open MPI 4.1 has no
# sessions, MPICH 4.0 raises their errors in a handler of its own).
BOTH = (
    "atomics",
    "blocking",
    "counters",
    "created",
    "datatypes",
    "duplicates",
    "dynamic",
    "errors",
    "fence",
    "handles",
    "host_traffic",
    "intrinsic",
    "lifetimes",
    "many_windows",
    "memhandles",
    "names",
    "nonblocking",
    "notified",
    "operations",
    "order",
    "passive",
    "promises",
    "pscw",
    "remote_completion",
    "requests",
    "threads",
    "window_kinds",
)
# Persistent collectives are compared with the host's, which Open MPI 4.1 lacks. On two ranks of a
# periodic grid MPICH 4.0 itself takes what comes from below for what comes from above.
RUNS = [
    *[(name, program, 2) for program in BOTH for name in ("mpich", "openmpi")],
    ("mpich", "alltoallv", 2),
    ("mpich", "collectives", 3),
    # It compares with the host; with MPI_BYTE as a number MPICH 4.0 does something else than 5.0.
    ("openmpi", "reductions", 2),
    ("mpich", "stress", 4),
    ("openmpi", "stress", 4),
]


@pytest.fixture
def debian(request, tmp_path):
    """An MPI, and how the programs find its library."""
    host = of_debian(request.param)
    if host is None or not host.supported:
        pytest.skip(f"Debian's {request.param} is not installed.")
    return host, library_path(host, tmp_path)


def expect_ok(job, debian, program, ranks, *tests):
    host, libraries = debian
    path = programs_folder() / host.name / program
    status, output = job.run_command(host, [path, *tests], ranks, libraries)
    assert status == 0 and "ok: " in output, f"{program} on {host.title}:\n{output[-4000:]}"


@pytest.mark.parametrize(("debian", "program", "ranks"), RUNS, indirect=["debian"])
def test_program(job, debian, program, ranks):
    expect_ok(job, debian, program, ranks)


# MPICH's MPI_Comm_spawn fails alone.
@pytest.mark.parametrize("debian", ["openmpi"], indirect=True)
def test_spawned_processes(job, debian):
    """Not MPI_Comm_spawn_multiple, which hangs alone on a busy machine: a child is in PMIx_Init."""
    expect_ok(job, debian, "spawned", 2, "one command", "in a folder")


# Of the supported MPIs only MPICH before 4.3 has such a collective and does not call our hook.
@pytest.mark.parametrize("debian", ["mpich"], indirect=True)
def test_collective_that_the_host_refuses_on_one_rank(job, debian):
    host, libraries = debian
    folder = programs_folder() / host.name
    preloaded = {"LD_PRELOAD": f"{host.library}:{folder / 'librefusing_host.so'}"}
    settings = {**libraries, **preloaded, "ORIEL_TEST_REFUSING": "1"}
    command = [folder / "alltoallv_errors", "refused by the host"]
    status, output = job.run_command(host, command, 3, settings)
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]


@pytest.mark.parametrize("debian", ("mpich", "openmpi"), indirect=True)
def test_info_lists_it(debian):
    """Also where another MPI of its name comes first."""
    host, _ = debian
    lines = oriel("info").stdout.splitlines()
    (listed,) = (
        at for at, line in enumerate(lines) if f"{host.version}, {host.prefix}/bin" in line
    )
    assert str(host.library) in lines[listed + 1]


def compile_c(host, folder, *words):
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    command = [str(wrapper(host, "mpicc")), "program.c", *words, "-o", "program"]
    output_of(command, host.command(1, [], preload=False)[1], limit_s=60, cwd=folder)
    return folder / "program"


@pytest.mark.parametrize("debian", ("mpich", "openmpi"), indirect=True)
def test_linked_and_preloaded(debian, tmp_path):
    """One Oriel."""
    host, _ = debian
    words = [str(host.library), f"-Wl,-rpath,{host.library.parent}"]
    program = compile_c(host, tmp_path, *words)
    ended = oriel("run", "-n", 2, "--info", program, "ended")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # The launcher may print the ranks' lines into one another.
    assert ended.stdout.count("ok") == 2, ended.stdout + ended.stderr
    printed = ended.stdout + ended.stderr
    assert printed.count("oriel: window 1, ") == 1, printed


@pytest.mark.parametrize("debian", ("mpich", "openmpi"), indirect=True)
def test_a_fatal_error_has_its_sentence(debian, tmp_path):
    """Once: MPICH 4.0 itself prints another sentence. Open MPI itself prints ours, but now and then
    its launcher loses that."""
    host, _ = debian
    ended = oriel("run", "-n", 1, compile_c(host, tmp_path))
    assert ended.returncode != 0
    sentence = "MPI_Put on an unnamed window: "
    times = (ended.stdout + ended.stderr).count(sentence)
    assert times == 1 or (times == 0 and host.name == "openmpi"), ended.stdout + ended.stderr
