# SPDX-License-Identifier: BSD-3-Clause
"""Windows at the limits of the machine: little shared memory, thousands of windows in turn,
transfers that 32 bits do not count (G2, G3, G4). `make soak` runs larger ones."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest
from conftest import Job, folder_of
from little_shm import why_no_little_shm, with_little_shm
from plan import LIBRARIES

# Otherwise Intel MPI's own messages end in a SIGBUS where /dev/shm is full.
MESSAGES_ELSEWHERE = {"I_MPI_FABRICS": "ofi"}


@pytest.fixture(scope="module")
def small_shared_memory():
    if reason := why_no_little_shm():
        pytest.skip(reason)


def expect_ok_in_little(job, host, tmp_path, settings):
    host = with_little_shm(host, 64, tmp_path)
    job.expect_ok(host, "limited_memory", 2, {**MESSAGES_ELSEWHERE, **settings})


def test_full_posix_shared_memory(job, host, tmp_path, small_shared_memory):
    """A window that does not fit is an error on all ranks; one that fits can be touched."""
    expect_ok_in_little(job, host, tmp_path, {"ORIEL_MEMFD": "0"})


# How the arena is made has nothing to do with the host.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ORIEL_TEST_NO_MEMFD": str(errno.EPERM)},
        {"ORIEL_TEST_NO_MEMFD": str(errno.ENOSYS)},
    ],
    ids=["memfd", "forbidden", "missing"],
)
def test_little_shared_memory(job, host, tmp_path, small_shared_memory, settings):
    """The size of /dev/shm does not limit a memfd. Where memfd_create fails, /dev/shm takes its
    place."""
    expect_ok_in_little(job, host, tmp_path, settings)


@pytest.mark.hosts(*LIBRARIES)
def test_short_lived_windows(job, host):
    """Ten thousand windows of each kind, made and freed one after the other, leave nothing."""
    # See the program for UCX.
    job.expect_ok(host, "short_lived_windows", 2, {"UCX_MEM_EVENTS": "n"})


NO_WINDOWS = {"OMPI_MCA_osc": "^rdma,sm,ucx,portals4,pt2pt,monitoring"}


@pytest.mark.hosts("openmpi")
@pytest.mark.parametrize("program", ["handles", "window_kinds", "errors", "notified"])
def test_host_that_makes_no_windows(job, host, program):
    """Windows work on an Open MPI that can make none of its own (G2)."""
    alone = Job(host_alone=True, sanitized=False)
    status, output = alone.run(host, "window_kinds", 2, NO_WINDOWS)
    assert status != 0 and "MPI_ERR_WIN" in output, output[-4000:]
    job.expect_ok(host, program, 2, NO_WINDOWS)


# Not at the same time: both need much memory.
@pytest.mark.xdist_group("long transfers")
@pytest.mark.hosts(*LIBRARIES)
def test_long_transfers(job, host):
    """Single operations of more than 4 GiB and 2 GiB, on mapped and on private memory."""
    # Open MPI has no large counts.
    test = {
        "mpich": "allocate, large count, put over 4 GiB",
        "openmpi": "create, derived type, all over 2 GiB",
    }[host.name]
    gibibytes = 6
    free = int(re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text()).group(1))
    if free < gibibytes << 20:
        pytest.skip(f"it takes {gibibytes} GiB of memory; {free >> 20} GiB are available")
    status, output = job.run_command(host, [folder_of(host) / "long_transfers", test], 2)
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]
