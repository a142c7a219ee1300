# SPDX-License-Identifier: BSD-3-Clause
"""Every RMA call as real processes, on every host MPI (G2 to G9, E1 to E7).

The programs next to this file check themselves; here they are started. One of them by hand:

    ORIEL_TEST_VERBOSE=1 oriel run -n 2 build/tests/mpi/mpich/fence asserts
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

PROGRAMS = sorted(
    path.stem for path in Path(__file__).parent.glob("*.cpp") if path.stem not in ("killed", "lost")
)

# Names that the hosts themselves leave behind when a rank is killed.
HOSTS_OWN = re.compile(r"mpich|ucx|vader|sm_segment|osc_sm|intel|psm|prte|pmix|^sem\.|ompi", re.I)


# Intel MPI 2021.18 has the values of MPI_ERRORS_RETURN and MPI_ERRORS_ABORT the other way round
# than MPICH 5.0; programs for the standard ABI are built with MPICH's header here.
NO_ERRORS_RETURN = {"errors", "reductions"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(job, host, program, ranks):
    if host.name == "intel-abi" and program in NO_ERRORS_RETURN:
        pytest.skip("this MPI takes MPI_ERRORS_RETURN of the standard ABI for MPI_ERRORS_ABORT")
    job.expect_ok(host, program, ranks)


@pytest.mark.parametrize("program", ["operations", "datatypes", "reductions", "passive"])
def test_served_by_messages(job, host, program):
    """Private memory where the system forbids process_vm_writev: the target's engine serves."""
    if host.name == "intel-abi" and program in NO_ERRORS_RETURN:
        pytest.skip("this MPI takes MPI_ERRORS_RETURN of the standard ABI for MPI_ERRORS_ABORT")
    if job.host_alone:
        pytest.skip("ORIEL_VM is a setting of Oriel")
    job.expect_ok(host, program, 2, {"ORIEL_VM": "0"})


@pytest.mark.parametrize("program", ["window_kinds", "fence"])
def test_posix_shared_memory(job, host, program):
    """The fallback where there is no memfd."""
    if job.host_alone:
        pytest.skip("ORIEL_MEMFD is a setting of Oriel")
    before = _shared_memory()
    job.expect_ok(host, program, 2, {"ORIEL_MEMFD": "0"})
    assert not _left_behind(before)


@pytest.mark.parametrize("memfd", ["1", "0"])
def test_killed_rank_leaves_nothing(job, host, memfd):
    """A rank killed with SIGKILL in the middle of epochs leaves nothing in shared memory, and the
    job ends."""
    before = _shared_memory()
    status, output = job.run(host, "killed", 2, {"ORIEL_MEMFD": memfd})
    assert "dying" in output, f"The program did not come as far as its end:\n{output[-4000:]}"
    assert "FAILED" not in output, f"The survivors waited until their alarm:\n{output[-4000:]}"
    assert status != 0
    deadline = time.monotonic() + 5
    while _left_behind(before) and time.monotonic() < deadline:
        time.sleep(0.1)  # the launcher may still be ending the other ranks
    assert not _left_behind(before)


def _shared_memory() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}


def _left_behind(before: set[str]) -> list[str]:
    return sorted(name for name in _shared_memory() - before if not HOSTS_OWN.search(name))
