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
    by_card = manners.startswith("card")
    chosen = settings(manners)
    if by_card and program == "fuzz":
        chosen["ORIEL_TEST_LONG"] = "1"  # short notified accesses have no immediate data
    # So many random calls meet each manner; memory that cannot be registered is the rarest.
    calls = "20000" if manners == "limited_registration" else "8000"
    command = [folder_of(host) / program, *(("1", calls) if program == "fuzz" else ())]
    status, output = job.run_command(host, command, 4, chosen, three_nodes.first(2))
    assert status == 0 and "ok: " in output, output[-4000:]
    met = [f"fabric: {name}" for name in manners.split(",")]
    if manners == "several_cards":  # ranks of a node take turns with those that can be used
        met += ["fabric: several_cards 0", "fabric: several_cards 1"]
    if manners == "passing_errors,unordered_writes":
        met.append("fabric: passing_errors of a completion")
    if manners == "local_registration" and long:
        met += [f"fabric: local_registration of a {kind}" for kind in ("read", "write")]
    if manners not in ("no_registration", "small_limits") and program in OPERATIONS:
        met.append("fabric: a vector")
    if (program == "notified" or by_card) and manners in WITH_IMMEDIATE:
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


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("manners", ["again", "passing_errors"])
def test_network_atomics(job, host, manners, three_nodes):
    """Atomics that the provider refuses for now, by another provider than that of the messages."""
    command = [folder_of(host) / "atomics"]
    status, output = job.run_command(host, command, 2, settings(manners), three_nodes.first(2))
    assert status == 0 and "ok: " in output, output[-4000:]
    assert "fabric: an atomic is refused for now\n" in output, output


def test_send_error(job, host, three_nodes):
    """A provider that fails for good is an error of the call that waits."""
    output = expect_loss(job, host, settings("send_error"))
    assert "fabric: send_error" in output


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("manners", ["opaque_32", "opaque_100"])
@pytest.mark.parametrize("how", ["killed", "cut off", "cut off without an agent"])
def test_rank_lost(job, host, manners, how):
    """The loss of a rank whose endpoint's address is no IP address."""

    def lose(nodes, program):
        if how == "killed":
            nodes.kill(1, program)
        else:
            nodes.cut_off(1)

    given = settings(manners)
    words = ["lost"]
    if how == "cut off without an agent":
        given["ORIEL_AGENT_INTERVAL"] = "0"
        words.append("early")
    output = expect_loss(job, host, given, lose, words)
    assert f"fabric: {manners}\n" in output, output
