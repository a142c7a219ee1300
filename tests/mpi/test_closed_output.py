# SPDX-License-Identifier: BSD-3-Clause
"""What ranks print to standard descriptors that they have closed reaches nothing of Oriel (G1)."""

from __future__ import annotations

import pytest
from oriel.wait_states.record import read_records


def test_windows_records_and_traces(job, host, tmp_path):
    check(job, host, tmp_path, "1")


# What Oriel opens for POSIX shared memory has nothing to do with the host.
@pytest.mark.hosts("mpich")
def test_posix_shared_memory(job, host, tmp_path):
    check(job, host, tmp_path, "0")


def check(job, host, tmp_path, memfd):
    trace = tmp_path / "trace"
    settings = {"ORIEL_MEMFD": memfd, "ORIEL_REPORT": str(tmp_path), "ORIEL_TRACE": str(trace)}
    job.expect_ok(host, "closed_output", 2, settings)
    records, _ = read_records(tmp_path)
    assert [record.rank for record in records] == [0, 1]
    assert all(record.ended for record in records)
    assert "xxxx" not in trace.read_text(encoding="utf-8")
    assert not [path for path in tmp_path.glob("*.names") if b"xxxx" in path.read_bytes()]


# What libfabric opens has nothing to do with the host.
@pytest.mark.hosts("mpich")
def test_connections(job, host, three_nodes):
    job.expect_ok(host, "closed_output", 2, nodes=three_nodes.first(2))
