# SPDX-License-Identifier: BSD-3-Clause
"""The same programs with their ranks on several nodes (B4): nodes made of network namespaces, ranks
started on them by each host MPI's own launcher."""

from __future__ import annotations

import pytest
from conftest import expect_loss
from test_processes import PROGRAMS

# Nodes and ranks on each: remote peers alone, and together with mapped ones.
SHAPES = [(2, 1), (2, 2), (3, 1), (3, 2)]
# libfabric's own sockets provider is slow: less of it.
PROVIDERS = [
    *[
        (program, "tcp;ofi_rxm")
        for program in ("fence", "pscw", "passive", "operations", "reductions")
    ],
    *[(program, "sockets") for program in ("fence", "pscw", "operations", "atomics")],
]


@pytest.fixture(autouse=True)
def native_abi(host):
    if host.name.endswith("-abi"):
        pytest.skip("the way between nodes does not depend on the MPI's ABI")


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{n}x{each}" for n, each in SHAPES])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(job, host, program, shape, three_nodes):
    count, each = shape
    job.expect_ok(host, program, count * each, nodes=three_nodes.first(count))


@pytest.mark.parametrize(("program", "provider"), PROVIDERS)
def test_provider(job, host, program, provider, three_nodes):
    if job.host_alone:
        pytest.skip("ORIEL_OFI_PROVIDER is a setting of Oriel")
    if host.name == "intel":
        pytest.skip("its libfabric brings tcp alone for TCP networks")
    settings = {"ORIEL_OFI_PROVIDER": provider}
    job.expect_ok(host, program, 4, settings, nodes=three_nodes.first(2))


# Remote peers alone, and together with mapped ones.
@pytest.mark.parametrize("shape", [(2, 1), (2, 2)], ids=["2x1", "2x2"])
@pytest.mark.parametrize("program", ["atomics", "operations", "reductions", "datatypes"])
def test_atomics(job, host, program, shape, three_nodes):
    """Accumulates by the network's own atomics, in the programs that know nothing of them too."""
    if job.host_alone:
        pytest.skip("the info key is Oriel's")
    count, each = shape
    settings = {
        "ORIEL_TEST_INFO": "mpi_assert_accumulate_intrinsic=true",
        "ORIEL_TEST_INTRINSIC": "true",
    }
    job.expect_ok(host, program, count * each, settings, three_nodes.first(count))


def test_no_such_provider(job, host, three_nodes):
    """A provider that is not there is an error of the call that makes the window, on all ranks."""
    if job.host_alone:
        pytest.skip("ORIEL_OFI_PROVIDER is a setting of Oriel")
    settings = {"ORIEL_OFI_PROVIDER": "carrier-pigeon"}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0
    assert "there is no way to rank 1 (node1)" in output
    assert "offers no provider named carrier-pigeon" in output


def test_no_libfabric(job, host, three_nodes):
    """Without libfabric the sentence says what is missing."""
    if job.host_alone:
        pytest.skip("ORIEL_OFI_LIBRARY is a setting of Oriel")
    settings = {"ORIEL_OFI_LIBRARY": "/nowhere/libfabric.so.1"}
    status, output = job.run(host, "fence", 2, settings, three_nodes.first(2))
    assert status != 0
    assert "libfabric, which carries Oriel between nodes, was not found" in output
    assert "/nowhere/libfabric.so.1" in output


def test_memory_is_not_shared(job, host, three_nodes):
    """A shared window over two nodes is an error that names who is where (G7)."""
    if job.host_alone:
        pytest.skip("the sentence is Oriel's")
    status, output = job.run(host, "killed", 2, nodes=three_nodes.first(2))
    assert status != 0
    assert "rank 1 (node1) cannot share memory with rank 0 (node0)" in output
    assert "MPI_COMM_TYPE_SHARED" in output


def test_node_cut_off(job, host, three_nodes):
    """A node that is cut off in the middle of an epoch: the call that waits for it fails with a
    sentence, within the configured time."""
    if job.host_alone:
        pytest.skip("the sentence is Oriel's")
    expect_loss(job, host, when_ready=lambda nodes, _: nodes.cut_off(1))


def test_killed_rank(job, host, three_nodes):
    """The same of a rank on another node that is killed with SIGKILL."""
    if job.host_alone:
        pytest.skip("the sentence is Oriel's")
    if host.name == "openmpi":
        pytest.skip("this MPI ends the job itself when one of its connections is closed")
    expect_loss(job, host, when_ready=lambda nodes, program: nodes.kill(1, program))
