# SPDX-License-Identifier: BSD-3-Clause
"""G15: hosts of MPI 3.1. MPICH 3.4, of which Cray MPICH 8 is made, and the first Intel MPI of this
ABI. The programs are those that were built with MPICH 5's header. Not among them: those that call
functions of MPI 4."""

from __future__ import annotations

import pytest
from conftest import oriel, programs_folder
from oriel.hosts.host import Host, hosts_at, prefix
from test_debian import BOTH

# As scripts/mpis brings them.
FOLDERS = {"mpich": "mpich-3.4.3.post1", "intel": "intel-2021.1.1"}
# Two of Debian's are not among them: `blocking` calls functions of MPI 4, and `promises` is about
# the MPIs that its table names.
OF_DEBIAN = sorted(set(BOTH) - {"blocking", "promises"})
PROGRAMS = (*OF_DEBIAN, "error_table", "tool_variables", "whole_calls")
RUNS = [*((program, 2) for program in PROGRAMS), ("stress", 4)]


@pytest.fixture(params=FOLDERS)
def older(request) -> Host:
    folder = prefix() / "mpi" / FOLDERS[request.param]
    found = hosts_at(folder)
    if not found:
        wanted = FOLDERS[request.param].replace("-", "==", 1)
        pytest.skip(f"{folder} is not there: `scripts/mpis {wanted}` brings it.")
    return found[0]


@pytest.mark.parametrize(("program", "ranks"), RUNS)
def test_program(job, older, program, ranks):
    path = programs_folder() / "mpich" / program
    status, output = job.run_command(older, [path], ranks)
    assert status == 0 and "ok: " in output, f"{program} on {older.title}:\n{output[-4000:]}"


def test_a_call_that_the_host_does_not_have(job, older):
    status, output = job.run_command(older, [programs_folder() / "mpich" / "sessions"], 2)
    assert status != 0
    assert "calls MPI_Session_init, which the MPI library in use does not have" in output, output


def test_the_command_takes_it(older):
    """By its name: the first of its name that is found."""
    program = programs_folder() / "mpich" / "fence"
    words = ["run", "-n", 2, "--mpi", older.name, "--info", program]
    ended = oriel(*words, ORIEL_MPI_ROOT="/none", PATH=f"{older.prefix / 'bin'}:/usr/bin:/bin")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout and "ranks 0 to 1 mapped" in ended.stderr
