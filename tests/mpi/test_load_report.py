# SPDX-License-Identifier: BSD-3-Clause
"""A run in which Oriel was asked for and not used does not look like one in which it was."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import folder_of, oriel
from oriel.hosts.load_report import WITHOUT_ORIEL

SOURCE = """
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  puts("here");
  return argc == 2 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture
def static(tmp_path) -> Path:
    """A program into which the loader preloads nothing: there is no loader in it."""
    (tmp_path / "program.c").write_text(SOURCE, encoding="utf-8")
    words = ["cc", "-static", "program.c", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, timeout=60, check=True)
    return tmp_path / "program"


@pytest.fixture
def run(tmp_path):
    """`oriel run`; nothing of it remains among the temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def call(host, *words) -> tuple[int, str, str]:
        ended = oriel("run", "-n", 2, "--mpi", host.name, *words, TMPDIR=str(temporary))
        assert not list(temporary.glob("oriel*"))
        told = [line for line in ended.stderr.splitlines() if line.startswith("oriel run: ")]
        assert len(told) <= 1
        return ended.returncode, ended.stdout, "".join(told)

    return call


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_program_that_cannot_be_preloaded(host, run, static):
    status, output, told = run(host, static)
    assert output.count("here") == 2
    assert "ran without Oriel" in told and str(static) in told
    assert status == WITHOUT_ORIEL


@pytest.mark.hosts("mpich", "openmpi")
def test_the_same_across_nodes(host, run, static, three_nodes):
    status, output, told = run(host, "--hosts", 2, static)
    assert output.count("here") == 2
    assert "ran without Oriel" in told
    assert status == WITHOUT_ORIEL
    status, _, told = run(host, "--hosts", 2, folder_of(host) / "fence")
    assert (status, told) == (0, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_a_setuid_program(host, run, tmp_path):
    program = tmp_path / "echo"
    program.write_bytes(Path("/bin/echo").read_bytes())
    os.chown(program, 65534, -1)
    program.chmod(0o4755)
    status, _, told = run(host, program)
    assert "ran without Oriel" in told
    assert status == WITHOUT_ORIEL


def test_a_program_that_fails_has_more_to_tell(host, run, static):
    status, _, told = run(host, static, "3")
    assert status == 3
    assert not told


@pytest.mark.parametrize("words", [["echo", "here"], ["sh", "-c", "echo here"]], ids=["", "shell"])
def test_a_program_that_is_none_of_mpi(host, run, words):
    status, output, told = run(host, *words)
    assert output.count("here") == 2
    assert (status, told) == (0, "")


def test_oriel_was_not_asked_for(host, run, static):
    status, _, told = run(host, "--no-oriel", static)
    assert (status, told) == (0, "")


def test_an_mpi_program(host, run, tmp_path):
    program = folder_of(host) / "fence"
    assert run(host, program)[::2] == (0, "")
    within = script(tmp_path / "script", f"{shlex.quote(str(program))}")
    assert run(host, within)[::2] == (0, "")


def test_a_script_that_clears_the_environment(host, run, tmp_path):
    """The library was in the shell, but not in what the shell has started."""
    program = shlex.quote(str(folder_of(host) / "fence"))
    within = script(tmp_path / "script", "unset LD_PRELOAD", f"ORIEL_TEST_HOST_ONLY=1 {program}")
    status, output, told = run(host, within)
    assert "ok: " in output
    assert "no process that has Oriel in it started MPI" in told
    assert status == 0, "what a script does is not known for certain"


# Takes MPI's functions by their names from the library given.
BY_NAME = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Finalize() == 0
print("here")
"""


def test_a_program_that_takes_functions_from_the_mpi_library(host, run):
    """Oriel was in it, and its calls passed Oriel by."""
    status, output, told = run(host, sys.executable, "-c", BY_NAME, host.mpi_library())
    assert output.count("here") == 2
    assert "ran without Oriel" in told and "take them from the process" in told
    assert status == WITHOUT_ORIEL


@pytest.mark.hosts("mpich")
def test_a_program_that_takes_functions_from_oriel(host, run):
    """By its name alone: it is loaded already."""
    status, output, told = run(host, sys.executable, "-c", BY_NAME, host.library.name)
    assert output.count("here") == 2
    assert (status, told) == (0, "")


def test_ranks_that_cannot_report(tmp_path, static):
    """On another machine the folder of the run is not there: nothing is known, nothing is told."""
    (tmp_path / "mpich" / "bin").mkdir(parents=True)
    script(
        tmp_path / "mpich" / "bin" / "mpiexec",
        '[ "$1" != --version ] || { printf "HYDRA build details:\\n Version: 5.0.2\\n"; exit; }',
        'shift 2; mv "$TMPDIR" "$TMPDIR.away"; "$@"; status=$?',
        'mv "$TMPDIR.away" "$TMPDIR"; exit $status',
    )
    (tmp_path / "temporary").mkdir()
    settings = {"ORIEL_MPI_ROOT": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
    ended = oriel("run", "-n", 1, "--mpi", "mpich", static, **settings)
    assert (ended.returncode, ended.stdout) == (0, "here\n"), ended.stderr
    assert not ended.stderr
