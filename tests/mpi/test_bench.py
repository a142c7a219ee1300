# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench` runs tiny on every host MPI, so that it cannot rot (S1, S3, S4, E4, E14, Q8). The
programs check their data themselves; no time is checked here."""

from __future__ import annotations

import json

import pytest
from conftest import oriel
from oriel.bench.ways import HOST, ORIEL

WINDOW_ROWS = 30  # 7 rows of two sizes and one of one size, on two kinds of windows
MESSAGE_ROWS = 2
HALO_ROWS = 5 * 8  # messages and four kinds of epochs, eight sizes


def test_micro_on_each_host(host, tmp_path):
    ended = oriel("bench", "micro", "--quick", "--mpi", host.name, "--output", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = json.loads((tmp_path / "micro.json").read_text(encoding="utf-8"))
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}
    assert len(results["rows"]) == 2 * (WINDOW_ROWS + MESSAGE_ROWS)
    assert all(row["median"] > 0 for row in results["rows"])
    assert host.version in results["hosts"][host.name]
    for picture in ("micro.png", "micro.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


# Between nodes the programs differ by what test_nodes.py runs on each host.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("subject", ["micro", "halo", "progress"])
def test_between_nodes(host, subject, three_nodes, tmp_path):
    """The same with a rank on each of two nodes (S6, Q8): three_nodes says whether that can be."""
    words = ("--quick", "--hosts", 2, "--mpi", host.name, "--output", tmp_path)
    ended = oriel("bench", subject, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 nodes made of network namespaces" in ended.stdout
    results = json.loads((tmp_path / f"{subject}.json").read_text(encoding="utf-8"))
    assert results["nodes"] == 2
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}


def test_pending_on_each_host(host):
    """Epochs that cannot start yet are held in any number, and complete when they can (E4)."""
    ended = oriel("bench", "pending", "--quick", "--mpi", host.name)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1,000 pending" in ended.stdout


def test_halo_on_each_host(host, tmp_path):
    # Each kind of window once, at least.
    window = "created" if host.name == "openmpi" else "allocated"
    words = ("--quick", "-n", 2, "--mpi", host.name, "--window", window, "--output", tmp_path)
    ended = oriel("bench", "halo", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = json.loads((tmp_path / "halo.json").read_text(encoding="utf-8"))
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}
    assert len(results["rows"]) == 2 * HALO_ROWS
    assert all(row["ratio"] > 0 for row in results["rows"])
    assert results["grid"] == [2, 1]
    for picture in ("halo.png", "halo.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


def test_progress_on_each_host(host, tmp_path):
    ended = oriel("bench", "progress", "--quick", "--mpi", host.name, "--output", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = json.loads((tmp_path / "progress.json").read_text(encoding="utf-8"))
    kinds = {(row["way"], row["window"], row["target"]) for row in results["rows"]}
    assert len(kinds) == len(results["rows"]) == 2 * 2 * 2 + 2  # dynamic: the host's alone
    assert all(row["median"] > 0 for row in results["rows"])
    assert all(len(run) == 20 for row in results["rows"] for run in row["first"])
    assert all(row["first"] for row in results["rows"] if row["target"] == "busy")
    for picture in ("progress.png", "progress.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


def test_unknown_mpi_is_a_sentence():
    ended = oriel("bench", "micro", "--mpi", "nosuch")
    assert ended.returncode == 1
    assert "There is no MPI named nosuch" in ended.stderr
