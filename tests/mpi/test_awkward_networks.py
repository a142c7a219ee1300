# SPDX-License-Identifier: BSD-3-Clause
"""Networks that this machine does not have, and errors that they do not make on demand (B4): a
libfabric that stands before the real one and changes its manners (support/awkward)."""

from __future__ import annotations

import pytest
from conftest import expect_loss, folder_of, programs_folder
from plan import AWKWARD_NETWORKS, DYNAMIC, OPERATIONS, WITH_IMMEDIATE


@pytest.fixture(autouse=True)
def awkward_fabric():
    if not library().is_file():
        pytest.skip("built without libfabric's headers")


def library():
    return programs_folder() / "libawkward_fabric.so"


def settings(manners: str) -> dict[str, str]:
    return {"ORIEL_OFI_LIBRARY": str(library()), "ORIEL_TEST_FABRIC": manners}


@pytest.mark.plan("manners", AWKWARD_NETWORKS)
def test_manners(job, host, program, manners, three_nodes):
    long = program in (*OPERATIONS, *DYNAMIC)  # puts and gets long enough to go directly
    output = job.expect_ok(host, program, 4, settings(manners), three_nodes.first(2))
    met = [f"fabric: {manners}"]
    if manners == "local_registration" and long:
        met += [f"fabric: local_registration of a {kind}" for kind in ("read", "write")]
    if manners != "no_registration" and program in OPERATIONS:
        met.append("fabric: a vector")
    if program == "notified" and manners in WITH_IMMEDIATE:
        met.append("fabric: immediate data")
    if manners != "unordered_writes" or long:
        assert all(f"{line}\n" in output for line in met), output


# Of notified operations, those that go directly and whose notifications travel by themselves.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("manners", ["unordered_writes", "again"])
def test_notified(job, host, manners, three_nodes):
    command = [folder_of(host) / "notified", "long ones"]
    nodes = three_nodes.first(2)
    status, output = job.run_command(host, command, 4, settings(manners), nodes)
    assert status == 0 and "ok: " in output, output[-4000:]
    assert f"fabric: {manners}\n" in output, output


@pytest.mark.hosts("mpich")
def test_delayed_packets_are_counted(job, host, three_nodes):
    command = [folder_of(host) / "tool_variables", "delayed"]
    status, output = job.run_command(host, command, 2, settings("again"), three_nodes.first(2))
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]


def test_send_error(job, host, three_nodes):
    """A provider that fails for good is an error of the call that waits."""
    output = expect_loss(job, host, settings("send_error"))
    assert "fabric: send_error" in output
