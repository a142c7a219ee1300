# SPDX-License-Identifier: BSD-3-Clause
"""Every RMA call as real processes, on every host MPI (G2 to G9, E1 to E7).

The programs next to this file check themselves; here they are started. One of them by hand:

    ORIEL_TEST_VERBOSE=1 oriel run -n 2 build/tests/mpi/mpich/fence asserts
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest
from conftest import behind_oriel, folder_of, run_to_loss
from plan import LIBRARIES, ONE_NODE


@pytest.mark.host_alone
@pytest.mark.plan("ranks", ONE_NODE)
def test_program(job, host, program, ranks):
    job.expect_ok(host, program, ranks)


@pytest.mark.parametrize(
    "program", ["operations", "datatypes", "reductions", "passive", "memhandles"]
)
def test_served_by_messages(job, host, program):
    """Private memory where the system forbids process_vm_writev: the target's engine serves."""
    job.expect_ok(host, program, 2, {"ORIEL_VM": "0"})


def test_threads_granted_by_a_setting(job, host):
    """MPI_THREAD_MULTIPLE that nobody has asked for."""
    settings = {"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}
    if host.name == "openmpi":
        settings = {"OMPI_MPI_THREAD_LEVEL": "3"}
    job.expect_ok(host, "granted_threads", 2, settings)


@pytest.mark.hosts(*LIBRARIES)
def test_accumulates_make_no_call(host):
    """The agent carries them out, beside a program that may have asked for a single thread."""
    library = host.library.read_bytes()
    # The names of the host's functions that Oriel looks up.
    assert b"PMPI_Comm_rank\0" in library
    assert b"Reduce_local" not in library


@pytest.mark.parametrize("program", ["names", "counter_names", "paper_names", "paper_names_cxx"])
def test_linked_library(job, host, program):
    """As test_program[names], with Oriel linked in front of the MPI; and the names that the MPI
    Forum, Intel MPI and the papers have for Oriel's calls, as their headers here spell them
    (E1, N1, N8, Q3 to Q7, C1)."""
    job.run_linked(host, f"{program}_linked", 2)


@pytest.mark.hosts(*LIBRARIES)
def test_collectives_by_a_setting(job, host):
    """MPI_Alltoallv_init is Oriel's for a program that knows nothing of Oriel."""
    command = [folder_of(host) / "alltoallv", "standard name"]
    status, output = job.run_command(host, command, 2, {"ORIEL_COLLECTIVES": "1"})
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]


@pytest.mark.hosts(*LIBRARIES)
def test_collective_that_the_host_refuses_on_one_rank(job, host):
    command = [folder_of(host) / "alltoallv_errors", "refused by the host"]
    settings = {**behind_oriel(host, "librefusing_host.so"), "ORIEL_TEST_REFUSING": "1"}
    status, output = job.run_command(host, command, 3, settings)
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]


@pytest.mark.parametrize("vm", ["0", "1"])
def test_early_leaver(job, host, vm):
    """What a rank has sent arrives though the rank has ended, and while it waits in the host."""
    job.expect_ok(host, "early_leaver", 2, {"ORIEL_VM": vm})


@pytest.mark.hosts("mpich")
def test_windows_left_to_mpi_finalize(job, host):
    """A rank in MPI_Finalize takes the notifications of ranks that are still at work."""
    job.expect_ok(host, "left_windows", 2)


@pytest.mark.hosts("mpich", "openmpi")
def test_spawned_processes(request, job, host):
    """The children of a program that `oriel run` starts have Oriel, too. Intel MPI's MPI_Comm_spawn
    crashes alone."""
    if request.config.getoption("sanitized") and host.name == "openmpi":
        pytest.skip("PMIx fails in a spawned process that has AddressSanitizer (gds_shmem2).")
    job.expect_ok(host, "spawned", 2)


@pytest.mark.hosts("openmpi")
def test_a_program_that_cannot_be_spawned(job, host):
    """It remains an error of the call. MPICH ends the job, as it does alone."""
    command = [folder_of(host) / "spawned", "no such command"]
    _, output = job.run_command(host, command, 2)
    assert "ok: 1 tests" in output, output[-4000:]


def test_permission_to_copy(job, host, tmp_path):
    """Where the kernel wants to be asked before others may copy private memory (Yama), it is."""
    job.expect_ok(host, "asked", 2, {"ORIEL_TEST_PERMISSIONS": str(tmp_path)})


def test_handles(job, host):
    """A new handle shows nothing of those before it, and the host lacks nothing."""
    job.expect_ok(host, "handles", 2)


def test_first_window_while_mpi_ends(job, host):
    """A delete callback in MPI_Finalize makes it."""
    job.expect_ok(host, "ending", 2)


def test_window_on_a_communicator_that_is_being_deleted(job, host):
    """MPICH deletes the attributes of MPI_COMM_SELF in MPI_Finalize one by one."""
    job.expect_ok(host, "ending_on_self", 2)


def test_many_windows(job, host):
    """Ten thousand windows cost neither descriptors nor mappings."""
    job.expect_ok(host, "many_windows", 2)


@pytest.mark.parametrize("program", ["window_kinds", "fence"])
def test_posix_shared_memory(job, host, program):
    """The fallback where there is no memfd."""
    before = _named()
    job.expect_ok(host, program, 2, {"ORIEL_MEMFD": "0"})
    expect_gone(before)


@pytest.mark.hosts(*LIBRARIES)
def test_one_look_for_all_requests(job, host):
    """Thousands of requests that wait for a peer look once whether it lives."""
    command = [folder_of(host) / "nonblocking", "one look for all"]
    settings = {"ORIEL_SPIN": "0", "ORIEL_YIELD": "0"}
    status, output = job.run_command(host, command, 2, settings)
    assert status == 0 and "ok: " in output, output[-4000:]


@pytest.mark.host_alone
@pytest.mark.parametrize("memfd", ["1", "0"])
def test_killed_rank_leaves_nothing(job, host, memfd):
    """A rank killed with SIGKILL in the middle of epochs leaves nothing in shared memory, and the
    job ends."""
    before = _named()
    status, output = job.run(host, "killed", 2, {"ORIEL_MEMFD": memfd})
    assert "dying" in output, f"The program did not come as far as its end:\n{output[-4000:]}"
    assert "FAILED" not in output, f"The survivors waited until their alarm:\n{output[-4000:]}"
    assert status != 0
    expect_gone(before)


@pytest.mark.host_alone
def test_exit_while_another_thread_is_in_epochs(job, host):
    """Nothing goes from under the calls of one thread when another one calls exit()."""
    _, output = job.run(host, "exiting", 2)
    assert "all rounds" in output and "crashed" not in output, output[-4000:]


@pytest.mark.hosts("mpich")
def test_a_start_that_the_launcher_fails_is_tried_again(job, host, tmp_path):
    """It seldom does, so one plays it: the first attempt of each of these tests' two kinds of runs
    fails."""
    launcher = tmp_path / "mpiexec"
    launcher.write_text(
        f"""#!/bin/sh
echo >>{tmp_path}/calls
if [ $(($(wc -l <{tmp_path}/calls) % 2)) = 1 ]; then
  echo "The PMIx server's listener thread failed to start. We cannot"
  exit 213
fi
echo "after 0.1 s, class MPI_ERR_OTHER: as expected"
"""
    )
    launcher.chmod(0o755)
    host = dataclasses.replace(host, mpiexec=launcher)
    assert run_to_loss(job, host, ["program"], {})[1] == "as expected"
    status, output = job.run_command(host, ["program"], 2)
    assert status == 0 and "as expected" in output


@pytest.mark.hosts(*LIBRARIES)
@pytest.mark.parametrize("memory", ["allocate", "create"])
def test_killed_within_an_accumulate(job, host, memory):
    """Who updates the same memory next is told, within seconds, who has left it half updated."""
    _, reason = run_to_loss(job, host, [folder_of(host) / "killed_within", memory], {})
    assert "rank 1 of the window has ended within an accumulate to the same target" in reason


@pytest.mark.hosts(*LIBRARIES)
@pytest.mark.parametrize("what", ["exposure", "request", "completion"])
def test_killed_while_polled(job, host, what):
    """A program that polls, and never waits, is told all the same."""
    _, reason = run_to_loss(job, host, [folder_of(host) / "killed_polled", what], {})
    assert "has ended, so this " in reason and "cannot complete" in reason


@pytest.mark.parametrize(
    "how", ["wait", "test", "any", "once", "probe", "iprobe", "counter", "threshold"]
)
def test_killed_before_it_notifies(job, host, how):
    """Whoever waits for a notification of the dead is told so (N3, B2)."""
    _, reason = run_to_loss(job, host, [folder_of(host) / "killed_notifier", how], {})
    assert "has ended, so this " in reason and "cannot complete" in reason


@pytest.mark.hosts(*LIBRARIES)
@pytest.mark.parametrize("way", ["notified", "fence", "lock", "two_sided"])
@pytest.mark.parametrize("when", ["before", "after", "between"])
def test_killed_within_a_collective(job, host, when, way):
    """The waits of all others are told who has ended, whatever it had started: by MPI_Wait,
    and by tests again and again."""
    by = "test" if when == "between" else "wait"
    words = [folder_of(host) / "killed_collective", when, way, by]
    _, reason = run_to_loss(job, host, words, {}, ranks=3)
    assert "rank 2 " in reason


def _named() -> set[str]:
    """What Oriel has named in shared memory. The hosts leave names of their own behind."""
    return {path.name for path in Path("/dev/shm").glob("oriel-*")}


def expect_gone(before: set[str]) -> None:
    """No more names than before. Another job on this machine may have one at any moment, but none
    for long; what is left behind stays."""
    new = _named() - before
    for _ in range(100):
        new &= _named()
        if not new:
            return
        time.sleep(0.1)
    pytest.fail(f"left in /dev/shm: {sorted(new)}")
