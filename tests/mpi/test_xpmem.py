# SPDX-License-Identifier: BSD-3-Clause
"""Private memory of node peers, mapped by XPMEM (G11). No machine of ours has its device: a
stand-in for its library maps what a program has from malloc, by a heap in a file without a name
(tests/core/support/xpmem_stand_in.cpp, support/memfd_heap.cpp). Other memory is refused, so the
programs have windows of both kinds."""

from __future__ import annotations

import json
import shlex
import sys

import pytest
from conftest import folder_of, programs_folder
from oriel.doctor import xpmem
from oriel.doctor.path_test import _RANK as PATH_TEST
from plan import LIBRARIES

pytestmark = pytest.mark.hosts(*LIBRARIES)

STAND_IN = programs_folder().parent / "libxpmem_stand_in.so"
HEAP = programs_folder() / "libmemfd_heap.so"
BY_XPMEM = "mapped by XPMEM"
BY_CALLS = "by process_vm_readv"
# A line that the stand-in prints.
MAPPED = "xpmem: memory of another process is mapped"
# Sets ORIEL_TEST_XPMEM, which names what the stand-in refuses, on one rank alone.
REFUSED_ON_ONE_RANK = """\
if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = %d ]; then
    ORIEL_TEST_XPMEM=attach
    export ORIEL_TEST_XPMEM
fi
exec %s"""


@pytest.fixture(autouse=True)
def not_sanitized(request):
    if request.config.getoption("sanitized"):
        pytest.skip("AddressSanitizer has a heap of its own.")


def settings(host, **more: str) -> dict[str, str]:
    preloaded = f"{host.library}:{HEAP}"
    return {"ORIEL_XPMEM": str(STAND_IN), "LD_PRELOAD": preloaded, "ORIEL_INFO": "1", **more}


def refused_on(rank: int, program) -> list[str]:
    return ["sh", "-c", REFUSED_ON_ONE_RANK % (rank, shlex.quote(str(program)))]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "program",
    [
        "created",
        "dynamic",
        "intrinsic",
        "memhandles",
        "notified",
        "operations",
        "passive",
        "window_kinds",
    ],
)
@pytest.mark.hosts("mpich")
def test_private_memory_is_mapped(job, host, program, ranks):
    output = job.expect_ok(host, program, ranks, settings(host))
    assert MAPPED in output, output[-4000:]
    assert BY_XPMEM in output or program in ("dynamic", "memhandles")


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("ranks", [2, 4])
def test_updates_are_whole(job, host, ranks):
    assert MAPPED in job.expect_ok(host, "whole_calls", ranks, settings(host))


@pytest.mark.parametrize(
    ("program", "vm"),
    [
        *(
            (program, "1")
            for program in ("created", "dynamic", "intrinsic", "passive", "whole_calls")
        ),
        ("operations", "0"),
        ("passive", "0"),
    ],
)
@pytest.mark.hosts("mpich")
def test_a_rank_that_cannot_map(job, host, program, vm):
    """It makes system calls, and sends messages where these are forbidden. Its updates and those
    of the ranks that map the memory exclude one another."""
    # Rank 0, which tells of its paths: it is the one that cannot, or all others send it messages
    # though it could.
    command = refused_on(0 if vm == "1" else 1, folder_of(host) / program)
    status, output = job.run_command(host, command, 3, settings(host, ORIEL_VM=vm))
    assert status == 0 and "ok: " in output, output[-4000:]
    assert MAPPED in output or vm == "0"
    assert BY_XPMEM not in output
    assert (BY_CALLS if vm == "1" else "by messages") in output or program == "dynamic"


def test_system_calls_are_not_needed(job, host):
    command = [folder_of(host) / "created", "rows in epochs"]
    status, output = job.run_command(host, command, 2, settings(host, ORIEL_VM="0"))
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]
    assert f"rank 0 mapped, rank 1 {BY_XPMEM}" in output


@pytest.mark.parametrize(
    "without",
    [{"ORIEL_XPMEM": "0"}, {"ORIEL_XPMEM": "/no/such/library.so"}, {"ORIEL_TEST_XPMEM": "device"}],
    ids=["setting", "library", "device"],
)
def test_without_xpmem(job, host, without):
    output = job.expect_ok(host, "created", 2, settings(host, **without))
    assert BY_XPMEM not in output and BY_CALLS in output, output[-4000:]


def test_the_path_is_said(job, host):
    """By `oriel info` and `oriel doctor`, which run this program."""
    command = [sys.executable, PATH_TEST, host.mpi_library(), host.kind.abi]
    _, output = job.run_command(host, command, 2, settings(host, PYTHONMALLOC="malloc"))
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    paths = {row["rank"]: row["windows"]["created"] for row in rows}
    assert paths == {
        0: {"path": f"rank 0 mapped, rank 1 {BY_XPMEM}", "arrived": True},
        1: {"path": f"rank 0 {BY_XPMEM}, rank 1 mapped", "arrived": True},
    }, output[-4000:]


@pytest.mark.hosts("mpich")
def test_the_doctor_says_what_there_is(host, tmp_path, monkeypatch):
    assert host
    monkeypatch.setattr(xpmem, "_DEVICE", tmp_path / "xpmem")
    assert [row.found for row in xpmem.examine()] == [f"none (no {tmp_path / 'xpmem'})"]
    monkeypatch.setenv("ORIEL_XPMEM", str(STAND_IN))
    assert [row.found for row in xpmem.examine()] == [f"version 2.7.0, by {STAND_IN}"]
    monkeypatch.setenv("ORIEL_TEST_XPMEM", "device")
    (found,) = xpmem.examine()
    assert found.state == "limited" and "cannot be used" in found.found and found.advice
    monkeypatch.setenv("ORIEL_XPMEM", "0")
    assert [row.state for row in xpmem.examine()] == ["ok"]
    monkeypatch.setenv("ORIEL_XPMEM", "")
    (tmp_path / "xpmem").touch()
    monkeypatch.setattr(xpmem, "_LIBRARY", "libno_such_library.so.0")
    (found,) = xpmem.examine()
    assert found.state == "limited" and "libno_such_library.so.0" in found.found
