# SPDX-License-Identifier: BSD-3-Clause
"""`oriel doctor --network` tests the network between two nodes, and writes a report (B14, G1)."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import pytest
from conftest import LIMIT_SECONDS, REPOSITORY
from oriel.doctor import network_test
from oriel.hosts.nodes import why_not

SMALL, LONG = 8, 1 << 22


def call(folder, *words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "oriel", "doctor", "--network", *words],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=3 * LIMIT_SECONDS,
        check=False,
    )


@pytest.mark.hosts("mpich", "openmpi")
def test_two_nodes(host, tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    (tmp_path / "oriel-network.json").write_text("kept")
    answer = call(tmp_path, "--mpi", host.name, "--hosts", "2")
    assert answer.returncode == 0, answer.stderr
    assert "All results are right.\n" in answer.stdout
    assert (tmp_path / "oriel-network.json").read_text() == "kept"
    report = json.loads((tmp_path / "oriel-network-2.json").read_text())
    assert report["nodes"] == ["node0", "node1"] and "libfabric" in report["network"]
    assert {"MPI_Win_flush", "ORIEL_Put_notify"} <= {row["check"] for row in report["checks"]}
    timed = {(row["time"], row["bytes"], row["target"]) for row in report["times"]}
    assert {("put + flush", SMALL, "waits"), ("get + flush", LONG, "computes")} <= timed
    # tcp's target carries each operation out by itself.
    assert answer.stdout.count("waits for the target's next MPI call") == 3
    assert len({row["time"] for row in report["alone"]}) == 3


@pytest.mark.hosts("mpich")
def test_one_node(host, tmp_path):
    answer = call(tmp_path, "--mpi", host.name)
    assert answer.returncode == 1
    assert "there is no network between them. Name two nodes" in answer.stderr
    assert not [*tmp_path.iterdir()]


def report_of(**changes) -> network_test.NetworkReport:
    row = {"time": "put + flush", "bytes": SMALL, "target": "computes", "row_us": 1000}
    report = network_test.NetworkReport(
        version="1",
        mpi="MPICH 5",
        network="cxi of libfabric 2",
        nodes=["a", "b"],
        machine={},
        checks=[{"check": "MPI_Win_fence", "right": True}, {"check": "MPI_Get", "right": True}],
        times=[row | {"us": 2.0}, row | {"target": "waits", "us": 1.5}],
        alone=[row | {"us": 2.0}, row | {"bytes": LONG, "us": 1500.0}],
    )
    return dataclasses.replace(report, **changes)


def test_what_ends_by_itself():
    assert (
        "put + flush: 8 B end while the target computes; other lengths wait for the target's next "
        "MPI call\n" in network_test.text(report_of())
    )
    first, second = report_of().alone
    card = network_test.text(report_of(alone=[first, second | {"us": 9.0}]))
    assert "put + flush: ends while the target computes\n" in card


def test_wrong_results():
    wrong = [{"check": "MPI_Win_fence", "right": True}, {"check": "MPI_Get", "right": False}]
    report = report_of(checks=wrong)
    assert not report.right()
    text = network_test.text(report)
    assert "WRONG  MPI_Get\n" in text and text.endswith(
        "Wrong results: MPI_Get. Do not use this network with Oriel, and attach the report to an "
        "issue."
    )


def test_options_of_the_launcher_need_the_network(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-m", "oriel", "doctor", "--", "-f", "hosts"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert answer.returncode == 2 and "are for --network" in answer.stderr
