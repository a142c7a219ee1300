# SPDX-License-Identifier: BSD-3-Clause
"""The same programs with their ranks on several nodes (B4): nodes made of network namespaces, ranks
started on them by each host MPI's own launcher."""

from __future__ import annotations

import os
import secrets
import subprocess

import pytest
from conftest import all_hosts, behind_oriel, expect_loss, folder_of, run_to_loss
from oriel.hosts.host import hosts_at
from oriel.hosts.nodes import Nodes, NodesError
from plan import INTRINSIC, LIBRARIES, PROVIDERS, SEVERAL_NODES


def _shape(nodes, shape: str):
    """The nodes and the number of ranks that a shape stands for: NODESxRANKS, these on each."""
    count, each = (int(word) for word in shape.split("x"))
    return nodes.first(count), count * each


def _psm3() -> dict[str, str]:
    """Settings that let another MPI's ranks use psm3 over TCP: Intel MPI's libfabric has it."""
    intel = all_hosts().get("intel")
    if intel is None:
        pytest.skip("no Intel MPI here, whose libfabric has psm3")
    return {
        "ORIEL_OFI_LIBRARY": str(intel.prefix / "lib" / "libfabric.so.1"),
        "FI_PROVIDER_PATH": str(intel.prefix / "lib"),
        "PSM3_HAL": "sockets",
    }


@pytest.mark.host_alone
@pytest.mark.plan("shape", SEVERAL_NODES)
def test_program(job, host, program, shape, three_nodes):
    nodes, ranks = _shape(three_nodes, shape)
    job.expect_ok(host, program, ranks, nodes=nodes)


@pytest.mark.hosts("intel")
@pytest.mark.parametrize("words", ["threads/windows made by threads", "errors", "alltoallv_errors"])
def test_setup_without_blocking_collectives(job, host, words, three_nodes):
    """Oriel sets up windows and persistent collectives without this host's blocking collectives and
    MPI_Wait. These spin without yielding: where the waiting threads outnumber the processors, they
    can take longer than any test may."""
    name, *tests = words.split("/")
    settings = behind_oriel(host, "libnonblocking_host.so")
    command = [folder_of(host) / name, *tests]
    ranks = 2 if name == "threads" else 4  # as in the plan
    status, output = job.run_command(host, command, ranks, settings, three_nodes.first(2))
    assert status == 0 and "ok: " in output, output[-4000:]


@pytest.mark.hosts("mpich")
def test_operations_advance_the_host(job, host, three_nodes):
    """E10. The hosts differ in the call by which Oriel lets them advance, not in how often it does,
    so one host is enough."""
    settings = behind_oriel(host, "libcounted_host.so")
    job.expect_ok(host, "advanced_host", 2, settings, three_nodes.first(2))


@pytest.mark.plan("provider", PROVIDERS)
def test_provider(job, host, program, provider, three_nodes):
    settings = {"ORIEL_OFI_PROVIDER": provider}
    if provider == "psm3":
        settings |= _psm3()
    job.expect_ok(host, program, 4, settings, nodes=three_nodes.first(2))


PSM3 = {"FI_PROVIDER": "psm3,tcp", "I_MPI_OFI_PROVIDER": "psm3", "PSM3_HAL": "sockets"}


@pytest.mark.hosts("intel")
def test_endpoint_beside_the_hosts(job, host, three_nodes):
    """psm3 allows a second endpoint in a process, because Oriel sets its variable in MPI_Init."""
    settings = {**PSM3, "ORIEL_OFI_PROVIDER": "psm3"}
    job.expect_ok(host, "fence", 2, settings, three_nodes.first(2))


@pytest.mark.hosts("intel")
def test_network_that_cannot_be_opened(job, host, three_nodes):
    """The ranks open the next network; if there is none, they fail with the reason."""
    only_one = {**PSM3, "PSM3_MULTI_EP": "0", "ORIEL_INFO": "1"}
    output = job.expect_ok(host, "fence", 2, only_one, three_nodes.first(2))
    assert "oriel: network: psm3" not in output and " of libfabric " in output, output[-4000:]
    settings = {**only_one, "ORIEL_OFI_PROVIDER": "psm3"}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0 and "provider psm3 refused an endpoint: " in output, output[-4000:]


@pytest.mark.hosts("intel")
def test_oldest_libfabric(job, host, three_nodes):
    """libfabric 1.11, which Intel MPI 2021.1 brings along (scripts/mpis intel==2021.1.1)."""
    hosts = hosts_at(host.prefix.parent / "intel-2021.1.1")
    if not hosts:
        pytest.skip("Intel MPI 2021.1 is not there")
    folder = hosts[0].prefix / "lib" / "libfabric"
    settings = {
        "LD_LIBRARY_PATH": str(folder),
        "FI_PROVIDER_PATH": str(folder / "prov"),
        "ORIEL_OFI_PROVIDER": "tcp",
        "ORIEL_INFO": "1",
    }
    for program in ("fence", "operations", "notified"):
        output = job.expect_ok(hosts[0], program, 4, settings, three_nodes.first(2))
        assert " of libfabric 1.11 " in output, output[-4000:]


@pytest.mark.plan("shape", INTRINSIC)
def test_atomics(job, host, program, shape, three_nodes):
    """Accumulates by the network's own atomics, in the programs that know nothing of them too."""
    nodes, ranks = _shape(three_nodes, shape)
    settings = {
        "ORIEL_TEST_INFO": "mpi_assert_accumulate_intrinsic=true",
        "ORIEL_TEST_INTRINSIC": "true",
    }
    job.expect_ok(host, program, ranks, settings, nodes)


@pytest.mark.hosts(*LIBRARIES)
def test_locks_allowed_later(job, host, three_nodes):
    """The agent starts when a window loses its key no_locks, if none has started it before."""
    command = [folder_of(host) / "atomics", "locks allowed later"]
    status, output = job.run_command(host, command, 2, nodes=three_nodes.first(2))
    assert status == 0 and "ok: " in output, output[-4000:]


def test_fork(job, host, three_nodes):
    """A child that ends by exit() leaves its parent's connections alone."""
    job.expect_ok(host, "forked", 2, nodes=three_nodes.first(2))


def test_windows_left_to_mpi_finalize(job, host, three_nodes):
    """A rank in MPI_Finalize serves ranks of other nodes that still have operations for it."""
    job.expect_ok(host, "left_windows", 4, nodes=three_nodes.first(2))


@pytest.mark.hosts("mpich")
def test_a_live_rank_that_many_ask_after(job, host):
    """Where the kernel holds few connections, most of those who ask get no answer."""
    with Nodes(2) as nodes:
        job.expect_ok(host, "late_fence", 6, {"ORIEL_PEER_TIMEOUT": "1"}, nodes)


@pytest.mark.hosts("mpich")
def test_windows_left_by_a_rank_that_was_killed(job, host):
    """Nor does it wait for a rank that has ended."""
    words = [folder_of(host) / "left_windows", "killed"]
    with Nodes(2) as nodes:
        _, told = run_to_loss(job, host, words, {"ORIEL_PEER_TIMEOUT": "2"}, nodes)
    assert told == "the host ends MPI"


def test_no_such_provider(job, host, three_nodes):
    """A provider that is not there is an error of the call that makes the window, on all ranks."""
    settings = {"ORIEL_OFI_PROVIDER": "carrier-pigeon"}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0
    assert "there is no way to rank 1 (node1)" in output
    assert "offers no provider named carrier-pigeon" in output


@pytest.mark.hosts(*LIBRARIES)
def test_no_libfabric(job, host, three_nodes):
    """Without libfabric the sentence says what is missing."""
    settings = {"ORIEL_OFI_LIBRARY": "/nowhere/libfabric.so.1"}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0
    assert "libfabric, which Oriel needs between nodes, was not found" in output
    assert "/nowhere/libfabric.so.1" in output


@pytest.mark.hosts("intel")
def test_libfabric_that_shares_providers(job, host, three_nodes):
    """Two libfabrics with one provider's file would crash when the process ends."""
    other = all_hosts().get("mpich")
    if other is None:
        pytest.skip("no MPICH here, whose libfabric is the second one")
    libraries = sorted(other.prefix.glob("lib/**/libfabric.so.1"))
    settings = {"ORIEL_OFI_LIBRARY": str(libraries[0])}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0
    assert "which another libfabric of this process has loaded" in output, output[-4000:]


# The others do not start under such a limit.
@pytest.mark.hosts("intel")
def test_no_thread_for_the_agent(job, host, three_nodes):
    """Where the system gives no thread the program runs, and somebody says what it lacks."""
    # No stack of this size can be had, and threads get as much as the program.
    command = ["sh", "-c", 'ulimit -s 1000000000; exec "$0"', str(folder_of(host) / "fence")]
    status, output = job.run_command(host, command, 2, nodes=three_nodes.first(2))
    assert status == 0 and "ok: " in output, output[-4000:]


# MPICH itself does not start under such a limit.
@pytest.mark.hosts("openmpi", "intel")
def test_rank_that_can_share_nothing(job, host, three_nodes):
    """It says so, and the others fail with it and say so for it."""
    program = str(folder_of(host) / "fence")
    limited = '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || ulimit -f 0; exec "$0"'
    command = ["sh", "-c", limited, program]
    settings = {"ORIEL_MEMFD": "0"}
    # Which ranks are heard before the launcher ends the job is luck; Open MPI shows one of them.
    shown = ""
    for _ in range(5):
        status, output = job.run_command(host, command, 2, settings, three_nodes.first(2))
        assert status != 0
        shown += output
        if host.name != "intel" or "could not take part" in shown:
            break
    assert "File too large. All that a process shares is one file" in shown, shown[-4000:]
    if host.name == "intel":
        assert "rank 1 (node1) could not take part: Cannot share " in shown, shown[-4000:]


@pytest.mark.hosts(*LIBRARIES)
def test_memory_is_not_shared(job, host, three_nodes):
    """A shared window over two nodes is an error that names who is where (G7)."""
    status, output = job.run(host, "killed", 2, nodes=three_nodes.first(2))
    assert status != 0
    assert "rank 1 (node1) cannot share memory with rank 0 (node0)" in output
    assert "MPI_COMM_TYPE_SHARED" in output


def test_node_cut_off(job, host, three_nodes):
    """A node that is cut off in the middle of an epoch: the call that waits for it fails with a
    sentence, within the configured time."""
    expect_loss(job, host, when_ready=lambda nodes, _: nodes.cut_off(1))


# What the calls make of a loss, the hosts show in test_killed_before_it_notifies.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("how", ["wait", "test", "any", "probe", "iprobe"])
def test_notifier_cut_off(job, host, how, three_nodes):
    """The same of a wait for a notification, and of a test again and again (N3, B2)."""
    words = ("killed_notifier", how, "alive")
    expect_loss(job, host, when_ready=lambda nodes, _: nodes.cut_off(1), words=words)


@pytest.mark.hosts("mpich")
def test_target_cut_off(job, host):
    """The same of a request that waits for its target (Q7)."""
    words = [folder_of(host) / "lost", "completion"]
    settings = {"ORIEL_PEER_TIMEOUT": "2"}
    with Nodes(2) as nodes:
        _, reason = run_to_loss(job, host, words, settings, nodes, lambda: nodes.cut_off(1))
    assert "has ended, so this request cannot complete" in reason


# Open MPI ends the job itself when one of its connections is closed.
@pytest.mark.hosts("mpich", "intel")
def test_killed_rank(job, host, three_nodes):
    """The same of a rank on another node that is killed with SIGKILL."""
    expect_loss(job, host, when_ready=lambda nodes, program: nodes.kill(1, program))


@pytest.mark.hosts("mpich")
def test_killed_rank_of_psm3(job, host, three_nodes):
    """The same over psm3, whose addresses are no IP addresses."""
    settings = {"ORIEL_OFI_PROVIDER": "psm3", **_psm3()}
    expect_loss(job, host, settings, lambda nodes, program: nodes.kill(1, program))


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("how", ["killed", "cut off"])
def test_mover_lost(job, host, how):
    """The same of a rank that is lost while it moves what is long on a dynamic window."""

    def lose(nodes, program):
        if how == "killed":
            nodes.kill(1, program)
        else:
            nodes.cut_off(1)

    expect_loss(job, host, when_ready=lose, words=("lost", "dynamic"))


def test_nodes_end_only_what_is_theirs(monkeypatch, three_nodes):
    """Nodes whose name is taken are not made, and leave those that have it alone."""
    number = secrets.randbits(32)
    monkeypatch.setattr(secrets, "randbits", lambda _: number)
    with Nodes(1) as first:
        words = [*first.inside(0), "sleep", "60"]
        with subprocess.Popen(words, env={**os.environ, **first.environment()}) as sleeper:
            with pytest.raises(NodesError), Nodes(1):
                pass
            untouched = sleeper.poll() is None
            sleeper.kill()
    assert untouched


def test_the_machine_sees_no_interface_of_theirs(three_nodes):
    """Other jobs list the machine's interfaces while nodes come and go."""
    before = os.listdir("/sys/class/net")
    with Nodes(2):
        assert os.listdir("/sys/class/net") == before
