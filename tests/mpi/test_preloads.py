# SPDX-License-Identifier: BSD-3-Clause
"""What a program preloads beside Oriel (G1): tools that wrap MPI calls by the profiling interface,
and the runtimes of sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import oriel
from system_mpis import wrapper

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, *base, *one = malloc(sizeof *one);
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  *one = 1;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Put(one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  printf("%s: %d\\n", *base == 1 ? "ok" : "wrong", one[argc - 1]);
  MPI_Win_free(&win);
  MPI_Finalize();
  free(one);
  return 0;
}
"""

# Its totals are printed when the process ends: behind Oriel it sees no MPI_Finalize.
TOOL = """
#include <mpi.h>
#include <stdio.h>

static int ranks, windows, puts_, ends;

int MPI_Comm_rank(MPI_Comm comm, int* rank) { ++ranks; return PMPI_Comm_rank(comm, rank); }

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                     MPI_Win* win) {
  ++windows;
  return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

int MPI_Put(const void* origin, int count, MPI_Datatype type, int target, MPI_Aint at, int n,
            MPI_Datatype there, MPI_Win win) {
  ++puts_;
  return PMPI_Put(origin, count, type, target, at, n, there, win);
}

int MPI_Finalize(void) { ++ends; return PMPI_Finalize(); }

__attribute__((destructor)) static void tell(void) {
  if (ranks != 0) {
    printf("seen: %d %d %d %d\\n", ranks, windows, puts_, ends);
    fflush(stdout);
  }
}
"""


def compiled(host, source: str, path: Path, *words: str) -> Path:
    path.with_suffix(".c").write_text(source, encoding="utf-8")
    _, environ = host.command(2, ["true"], preload=False)
    command = [wrapper(host, "mpicc"), *words, path.with_suffix(".c"), "-o", path]
    subprocess.run([str(word) for word in command], env=environ, timeout=60, check=True)
    return path


@pytest.mark.parametrize("place", ["in front of Oriel", "behind Oriel"])
def test_a_tool(host, place, tmp_path):
    """In front it sees all of the program's calls, and none of Oriel's; behind only those that
    Oriel does not define. The user's entries come first, unless they name Oriel themselves."""
    program = compiled(host, PROGRAM, tmp_path / "program")
    tool = compiled(host, TOOL, tmp_path / "tool.so", "-shared", "-fPIC")
    entries = f"{host.library}:{tool}" if place == "behind Oriel" else f"{tool}"
    words = ["run", "-n", 2, "--mpi", host.name, "--info", program]
    ended = oriel(*words, LD_PRELOAD=entries, **host.library_path())  # the command has them, too
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("ok: 1") == 2
    assert "made by MPI_Win_allocate, 2 ranks: ranks 0 to 1 mapped" in ended.stderr
    seen = "seen: 1 0 0 0" if place == "behind Oriel" else "seen: 1 1 1 1"
    assert ended.stdout.count(seen) == 2, ended.stdout


def test_a_sanitized_program(host, tmp_path):
    """It starts, Oriel is in it, and the sanitizer finds what it is there for."""
    program = compiled(host, PROGRAM, tmp_path / "program", "-fsanitize=address", "-g")
    run = ["run", "-n", 2, "--mpi", host.name, "--info", program]
    settings = {"ASAN_OPTIONS": "detect_leaks=0"}  # the hosts keep what they allocate
    ended = oriel(*run, **settings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("ok: 1") == 2
    assert "made by MPI_Win_allocate, 2 ranks: ranks 0 to 1 mapped" in ended.stderr
    ended = oriel(*run, "beyond the end", **settings)
    assert ended.returncode != 0
    assert "heap-buffer-overflow" in ended.stdout + ended.stderr


@pytest.mark.hosts("intel")
def test_a_program_with_the_thread_sanitizer(host, tmp_path):
    """Alone, MPICH crashes with it, and Open MPI does not start."""
    program = compiled(host, PROGRAM, tmp_path / "program", "-fsanitize=thread", "-g")
    settings = {"TSAN_OPTIONS": "report_bugs=0"}  # the host has races of its own
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program, **settings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("ok: 1") == 2
    assert "made by MPI_Win_allocate, 2 ranks: ranks 0 to 1 mapped" in ended.stderr
