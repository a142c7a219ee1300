# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on one host that cannot see each other's processes, as in containers with PID namespaces of
their own: what cannot be mapped goes by messages, as between nodes (B4). Takes root."""

from __future__ import annotations

import dataclasses
import subprocess

import pytest
from conftest import folder_of
from plan import HIDDEN

# Open MPI's own shared memory takes it that the ranks can see each other, and the tests ask the
# host whether they can share memory.
SETTINGS = {"OMPI_MCA_btl": "tcp,self", "ORIEL_TEST_HIDDEN": "1"}
APART = ["unshare", "--pid", "--fork", "--mount-proc"]


@pytest.fixture(autouse=True, scope="module")
def namespaces():
    try:
        subprocess.run([*APART, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no PID namespaces here: {error}")


@pytest.mark.plan("ranks", HIDDEN)
def test_namespace_each(job, host, program, ranks):
    """A PID namespace for each rank, one host name."""
    expect_ok(job, host, ranks, [*APART, folder_of(host) / program])


def test_wrong_numbers(job, host, tmp_path):
    """All ranks in one PID namespace, which /proc does not show: their numbers there are those of
    other processes, if of any."""
    mpiexec = tmp_path / "mpiexec"
    # Intel MPI's launcher cannot bind a process that /proc does not show.
    inside = f'I_MPI_PIN=0 exec unshare --pid --fork "{host.mpiexec}" "$@"'
    mpiexec.write_text(f"#!/bin/sh\n{inside}\n")
    mpiexec.chmod(0o755)
    expect_ok(job, dataclasses.replace(host, mpiexec=mpiexec), 2, [folder_of(host) / "hidden"])


def expect_ok(job, host, ranks, command):
    status, output = job.run_command(host, command, ranks, SETTINGS)
    assert status == 0 and "ok: " in output, output[-4000:]
