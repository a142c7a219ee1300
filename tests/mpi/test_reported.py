# SPDX-License-Identifier: BSD-3-Clause
"""G10: reported faults that a library shows in special circumstances only, with Oriel. plan.py has
the others."""

from __future__ import annotations

import shutil

import pytest
from conftest import folder_of
from little_shm import why_no_little_shm, with_little_shm
from reports import FORTRAN, LITTLE_SHM_MEBIBYTES, circumstances
from system_mpis import hosts_named
from test_fortran import BINDINGS, compile_for


def expect_ok(job, host, program: str, test: str):
    needed = circumstances(program, test)
    command = [folder_of(host) / program, test]
    status, output = job.run_command(host, command, needed.ranks, needed.settings)
    assert status == 0 and "ok: " in output, output[-4000:]


@pytest.mark.hosts("openmpi")
def test_messages_over_libfabric(job, host):
    expect_ok(job, host, "reported", "ompi#13298 ")


def test_no_process_vm(job, host):
    expect_ok(job, host, "reported_now", "ompi#4948 ")


def test_little_shared_memory(job, host, tmp_path):
    if reason := why_no_little_shm():
        pytest.skip(reason)
    expect_ok(job, with_little_shm(host, LITTLE_SHM_MEBIBYTES, tmp_path), "reported_now", "ga#254 ")


@pytest.mark.parametrize("name", ("mpich", "openmpi", "intel"))
def test_fortran(job, tmp_path, name):
    if shutil.which("gfortran") is None:
        pytest.skip("There is no gfortran on this machine.")
    for host in hosts_named(name):
        for binding in BINDINGS:
            program = compile_for(host, binding, tmp_path, FORTRAN)
            if program is not None:
                status, output = job.run_command(host, [program], 2)
                assert status == 0 and "ok: 4 tests" in output, output[-4000:]
                return
    pytest.skip(f"No {name} on this machine has a binding for gfortran.")
