# SPDX-License-Identifier: BSD-3-Clause
"""A network whose card carries out writes, reads and atomics without the target's software (B4,
B14): a stand-in for one, a libfabric for nodes of one machine (support/card)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Job, oriel, programs_folder
from oriel.bench.ways import HOST, ORIEL


@pytest.fixture
def folder() -> Path:
    folder = programs_folder() / "card"
    if not (folder / "libfabric.so.1").is_file():
        pytest.skip("built without libfabric's headers")
    return folder


@pytest.fixture
def card(folder) -> dict[str, str]:
    """Settings with which Oriel and MPICH run on the card."""
    return {
        "LD_LIBRARY_PATH": str(folder),
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "ORIEL_OFI_LIBRARY": str(folder / "libfabric.so.1"),
    }


def test_messages(folder):
    """The card loses no message, and gives a buffer for several messages back at its end."""
    run = subprocess.run([folder / "traffic"], capture_output=True, text=True, timeout=200)
    assert run.stdout == "ok\n", run.stderr


def test_times(folder):
    """No operation is faster than the model."""
    run = subprocess.run(
        [folder / "times", "8", "4096"], capture_output=True, text=True, timeout=200
    )
    times = [json.loads(line) for line in run.stdout.splitlines()]
    assert {time["time"] for time in times} == {"put", "get", "fetch_and_op"}, run.stderr
    assert all(time["us"] >= time["model_us"] for time in times), run.stdout


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    "program", ["atomics", "fence", "notified", "operations", "order", "passive", "pscw"]
)
def test_oriel(job, host, program, card, three_nodes):
    settings = {**card, "ORIEL_INFO": "1"}
    output = job.expect_ok(host, program, 4, settings, three_nodes.first(2))
    assert "direct transfers of every length, carried out by the card" in output
    assert "writes ordered and delivered, 8 bytes of immediate data" in output


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("manners", ["", "name=cxi,keys=caller,order=messages"])
def test_silence(job, host, manners, card, three_nodes):
    """The target's software hears nothing of a put, a get, an atomic and their flush. One endpoint
    serves messages, transfers and atomics."""
    settings = {**card, "ORIEL_AGENT_INTERVAL": "0", "ORIEL_TEST_CARD": manners}
    job.expect_ok(host, "silent", 2, settings, three_nodes.first(2))


# Registrations as on Slingshot, and no order between writes and messages.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "notified", "passive"])
def test_oriel_by_offset(job, host, program, card, three_nodes):
    manners = "name=cxi,keys=caller,order=messages"
    settings = {**card, "ORIEL_INFO": "1", "ORIEL_TEST_CARD": manners}
    output = job.expect_ok(host, program, 4, settings, three_nodes.first(2))
    assert "of every length, carried out by the card, writes delivered, no immediate data" in output


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "operations", "passive", "requests"])
def test_host_alone(host, program, card, three_nodes):
    """The host's own RMA, by its direct transfers."""
    settings = {**card, "MPIR_CVAR_DEBUG_SUMMARY": "1"}
    output = Job(True, False).expect_ok(host, program, 4, settings, three_nodes.first(2))
    assert "libfabric provider: verbs - card" in output
    assert "MPIDI_OFI_ENABLE_RMA: 1" in output


# What the target's program has to answer is measured with a target that waits alone.
AT_TARGET = {"put + flush", "get + flush", "fetch_and_op + flush", "lock, put, unlock"}
TOGETHER = {"put + fence", "post, start, put, complete, wait", "message"}


@pytest.mark.hosts("mpich")
def test_bench(host, folder, three_nodes, tmp_path):
    """`oriel bench network` on the card and on TCP, tiny."""
    words = ("--quick", "--mpi", host.name, "--hosts", 2, "--card", folder, "--output", tmp_path)
    ended = oriel("bench", "network", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "The network card is modelled" in ended.stdout
    results = json.loads((tmp_path / "network.json").read_text(encoding="utf-8"))
    assert len(results["card"]) == 2 * 2 + 1
    for network in ("card", "tcp"):
        rows = [row for row in results["rows"] if row["network"] == network]
        assert {row["modelled"] for row in rows} == {network == "card"}
        measured = {(row["operation"], row["target"], row["way"]) for row in rows}
        expected = {(each, "waits", way) for each in AT_TARGET | TOGETHER for way in (HOST, ORIEL)}
        expected |= {(each, "computes", way) for each in AT_TARGET for way in (HOST, ORIEL)}
        assert measured == expected | {("notified put", "waits", ORIEL)}
    assert (tmp_path / "network.png").stat().st_size > 1000


@pytest.mark.hosts("intel")
def test_bench_refuses_intel_mpi(host, folder, three_nodes):
    words = ("--quick", "--mpi", host.name, "--hosts", 2, "--card", folder)
    ended = oriel("bench", "network", *words)
    assert ended.returncode == 2
    assert "Intel MPI does not run on the stand-in for a card" in ended.stdout
