# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel` as a user calls it: what it finds out by itself, and that its errors are
sentences which say what to do (G1, G7)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import folder_of, oriel
from plan import NATIVE, STANDARD


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_run_finds_the_mpi_of_the_program(host):
    program = folder_of(host) / "fence"
    # MPICH and Intel MPI share a soname; both are named where that is all there is to go by.
    named = [] if host.name in ("mpich", "openmpi", "mpich-abi") else ["--mpi", host.name]
    ended = oriel("run", "-n", 2, "--info", *named, program)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout
    assert "mapped" in ended.stdout + ended.stderr, "ORIEL_INFO tells the path of each peer"


def test_info_tells_of_memory_served_by_messages(host):
    program = folder_of(host) / "window_kinds"
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program, ORIEL_VM="0")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "by messages" in ended.stdout + ended.stderr


def test_run_without_oriel(host):
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--no-oriel", "--info", "/bin/echo", "here")
    assert ended.stdout.count("here") == 2, ended.stdout + ended.stderr


def variables(host) -> list[str]:
    ended = oriel("env", "--mpi", host.name, LD_LIBRARY_PATH="")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_env_names_the_library(host):
    words = variables(host)
    assert words[0] == f"LD_PRELOAD={host.library}"
    if host.prefix != Path("/usr"):
        assert words[1:] == [f"LD_LIBRARY_PATH={host.prefix / 'lib'}"]


# Python loads MPI by its path, and for itself alone.
SCRIPT = """
import ctypes, os, sys
mpi = ctypes.CDLL(sys.argv[1], os.RTLD_LOCAL | os.RTLD_NOW)
assert mpi.MPI_Init(None, None) == 0
major, minor, patch = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
oriel = ctypes.CDLL(None)
assert oriel.ORIEL_Get_version(*map(ctypes.byref, (major, minor, patch))) == 0
with open("/proc/self/maps") as maps:
    names = {line.split()[-1] for line in maps if "/libmpi" in line}
files = sorted({name for name in names if os.path.basename(name).startswith(sys.argv[2] + ".so")})
assert len(files) == 1 and os.path.samefile(files[0], sys.argv[1]), files
assert mpi.MPI_Finalize() == 0
print("ok: one", files[0])
"""


LIBRARY = """
#include <mpi.h>
#include <stdio.h>

int over(void) {
  int* base;
  MPI_Win win;
  MPI_Init(NULL, NULL);
  MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return puts("ok: one") < 0;
}
"""


def program_over_a_library(host, folder: Path) -> Path:
    """Knows no MPI; its library does."""
    (folder / "over.c").write_text(LIBRARY, encoding="utf-8")
    (folder / "main.c").write_text("int over(void); int main(void) { return over(); }\n")
    _, environ = host.command(2, [])
    shared = ["-fPIC", "-shared", "-o", "libover.so"]
    alone = [f"-Wl,-rpath,{folder},--unresolved-symbols=ignore-in-shared-libs", "-o", "main"]
    for words in (
        [host.prefix / "bin" / "mpicc", "over.c", *shared],
        ["cc", "main.c", "-L.", "-lover", *alone],
    ):
        subprocess.run(words, cwd=folder, env=environ, timeout=60, check=True)
    return folder / "main"


@pytest.mark.parametrize("rank", ["shell", "python", "over a library"])
def test_env_with_a_rank_that_lists_no_mpi(host, rank, tmp_path):
    """A shell, Python, or a program over another library: they are no MPI programs to the loader,
    which must find the MPI that our library needs, and no second one."""
    name = "libmpi"
    # Named by its soname, as a program would have it.
    found = sorted((host.prefix / "lib").glob(f"{name}.so.*"), key=lambda path: len(path.name))
    script = [sys.executable, "-c", SCRIPT, str(found[0]), name]
    command = {
        "shell": lambda: ["sh", "-c", '"$@"; exit $?', "sh", *script],
        "python": lambda: script,
        "over a library": lambda: [str(program_over_a_library(host, tmp_path))],
    }[rank]()
    # What the launcher itself needs is not what its ranks get.
    ranks = ["env", "-u", "LD_LIBRARY_PATH", *variables(host), *command]
    argv, environ = host.command(2, ranks, preload=False)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("ok: one") == 2, ended.stdout + ended.stderr


def test_info_lists_hosts_and_settings():
    ended = oriel("info")
    assert ended.returncode == 0, ended.stderr
    for word in ("oriel 0.1.0", "MPIs", "ORIEL_VM", "ORIEL_SPIN", "default"):
        assert word in ended.stdout


def test_info_tells_the_way_between_ranks(host):
    ended = oriel("info", "--mpi", host.name)
    assert ended.returncode == 0, ended.stderr
    assert re.search("between nodes: .+ of libfabric [0-9.]+ [(]/", ended.stdout), ended.stdout
    assert "MPI_Win_allocate, from every rank: ranks 0 to 1 mapped\n" in ended.stdout


def test_info_tells_the_way_between_nodes(host, three_nodes):
    ended = oriel("info", "--mpi", host.name, "--hosts", 2, "-n", 4)
    assert ended.returncode == 0, ended.stderr
    told = re.search("MPI_Win_allocate, from rank 3 [(]node1[)]: (.*)", ended.stdout)
    assert told, ended.stdout
    assert re.fullmatch("ranks 0 to 1 over [a-z;_]+, ranks 2 to 3 mapped", told.group(1))


def test_the_library_calls_the_host(host):
    """It calls neither name of an MPI call that it exports itself, and of its own calls only those
    that Fortran's are made of, by the name that tools wrap. Which names there are test_exports.py
    tells."""
    words = ["nm", "-D", "--defined-only", host.library]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    words = ["readelf", "--relocs", "--wide", host.library]
    relocations = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "PMPI_Comm_rank" in relocations
    called = names & set(re.findall(r"\bP?(?:MPIX?|ORIEL)_\w+", relocations))
    assert not {name for name in called if f"{name}_f08" not in names}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["walk"], "There is no command walk."),
        (["run", "-n", "2", "./no-such-program"], "neither an executable file nor on PATH"),
        (["run", "-n", "0", "/bin/true"], "at least 1"),
        (["run", "-n", "2", "/bin/true"], "is linked with no MPI"),
        (["run", "-n", "2", "--mpi", "lam", "/bin/true"], "There is no MPI named lam here"),
        (["env", "--mpi", "lam"], "There is no MPI named lam here"),
        (["demo", "--mpi", "lam"], "There is no MPI named lam here"),
        (["demo", "--iterations", "0"], "takes a number above 0"),
    ],
)
def test_errors_are_sentences(words, sentence):
    ended = oriel(*words)
    assert ended.returncode not in (0, None)
    assert sentence in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
