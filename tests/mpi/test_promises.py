# SPDX-License-Identifier: BSD-3-Clause
"""G12: docs/promises.md. What it says of each MPI is true without Oriel; and with Oriel, where
blocking calls that open an epoch wait."""

from __future__ import annotations

import pytest
from conftest import Job, folder_of, programs_folder
from system_mpis import library_path, of_debian

# Parts of the names of the tests that an MPI passes alone, if it does not pass all. Open MPI
# refuses operations on memory that was detached.
OPENMPI = ("put", "request", "get", "fetch_and_op", "result", "compare")
# MPICH 4.0 gives no result before a flush; Open MPI 4.1 ends in MPI_Compare_and_swap by a signal.
OF_DEBIAN = {
    "mpich": ("put", "request", "detached"),
    "openmpi": ("put", "request", "get", "fetch_and_op", "result"),
}


def expect_promises(host, command, settings=None):
    status, output = Job(host_alone=True, sanitized=False).run_command(host, command, 2, settings)
    assert status == 0 and "ok: " in output, f"{host.title} alone:\n{output[-4000:]}"


def test_host_alone(host):
    given = OPENMPI if host.name == "openmpi" else ()
    expect_promises(host, [folder_of(host) / "promises", *given])


@pytest.mark.parametrize("name", OF_DEBIAN)
def test_debians_host_alone(name, tmp_path):
    host = of_debian(name)
    if host is None or not host.supported:
        pytest.skip(f"Debian's {name} is not installed.")
    program = programs_folder() / host.name / "promises"
    expect_promises(host, [program, *OF_DEBIAN[name]], library_path(host, tmp_path))


@pytest.mark.hosts("mpich", "openmpi")
def test_by_the_setting(job, host):
    """The tests that need the info key without it."""
    command = [folder_of(host) / "promises", "a late", "put behind"]
    status, output = job.run_command(host, command, 2, {"ORIEL_AWAIT_ACCESS": "opening"})
    assert status == 0 and "ok: 9 tests" in output, output[-4000:]
