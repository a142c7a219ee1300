# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench` runs tiny on every host MPI, so that it cannot rot (S1, S3, S4, E4, E14, Q8). The
programs check their data themselves; no time is checked here."""

from __future__ import annotations

import json

import pytest
from conftest import oriel
from oriel import bench
from oriel.halo_times import HaloTimes
from oriel.progress_times import ProgressTimes
from oriel.timings import HOST, ORIEL, Row, Timings

WINDOW_ROWS = 30  # 7 rows of two sizes and one of one size, on two kinds of windows
MESSAGE_ROWS = 2
HALO_ROWS = 5 * 8  # messages and four kinds of epochs, eight sizes


def test_micro_on_each_host(job, host, tmp_path):
    if job.host_alone:
        pytest.skip("the benchmark compares Oriel with the host")
    if host.name.endswith("-abi"):
        pytest.skip("the programs are built for each MPI's own ABI")
    ended = oriel("bench", "micro", "--quick", "--mpi", host.name, "--output", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = json.loads((tmp_path / "micro.json").read_text(encoding="utf-8"))
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}
    assert len(results["rows"]) == 2 * (WINDOW_ROWS + MESSAGE_ROWS)
    assert all(row["median"] > 0 for row in results["rows"])
    assert host.version in results["hosts"][host.name]
    for picture in ("micro.png", "micro.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.parametrize("subject", ["micro", "halo", "progress"])
def test_between_nodes(job, host, subject, three_nodes, tmp_path):
    """The same with a rank on each of two nodes (S6, Q8): three_nodes says whether that can be."""
    if job.host_alone:
        pytest.skip("the benchmark compares Oriel with the host")
    if host.name.endswith("-abi"):
        pytest.skip("the programs are built for each MPI's own ABI")
    words = ("--quick", "--hosts", 2, "--mpi", host.name, "--output", tmp_path)
    ended = oriel("bench", subject, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 nodes made of network namespaces" in ended.stdout
    results = json.loads((tmp_path / f"{subject}.json").read_text(encoding="utf-8"))
    assert results["nodes"] == 2
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}


def test_pending_on_each_host(job, host):
    """Epochs that cannot start yet are held in any number, and complete when they can (E4)."""
    if job.host_alone:
        pytest.skip("nonblocking epochs are Oriel's")
    if host.name.endswith("-abi"):
        pytest.skip("the programs are built for each MPI's own ABI")
    ended = oriel("bench", "pending", "--quick", "--mpi", host.name)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1,000 pending" in ended.stdout


@pytest.mark.parametrize("window", ["allocated", "created"])
def test_halo_on_each_host(job, host, window, tmp_path):
    if job.host_alone:
        pytest.skip("the benchmark compares Oriel with the host")
    if host.name.endswith("-abi"):
        pytest.skip("the programs are built for each MPI's own ABI")
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


def test_progress_on_each_host(job, host, tmp_path):
    if job.host_alone:
        pytest.skip("the benchmark compares Oriel with the host")
    if host.name.endswith("-abi"):
        pytest.skip("the programs are built for each MPI's own ABI")
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


def timings_of(**medians: float) -> Timings:
    """One 8 B row on an allocated window; names are HOST_WAY."""
    timings = Timings()
    for name, value in medians.items():
        host, way = name.split("_")
        line = {"row": "put_flush", "window": "allocated", "bytes": 8, "samples": [value] * 3}
        timings.read(host, way, json.dumps(line))
    return timings


def test_ratio_is_to_the_best_host():
    timings = timings_of(mpich_host=0.2, mpich_oriel=0.03, openmpi_host=0.05, openmpi_oriel=0.02)
    row = Row("put_flush", "allocated", 8)
    assert timings.ratio(row, "mpich") == pytest.approx(0.6)
    assert timings.ratio(row, "openmpi") == pytest.approx(0.4)
    assert [host for _, host, _ in timings.misses([row])] == ["mpich"]
    assert bench.verdicts(timings) == [
        "8 B rows on allocated windows, at most half of the best host's time: "
        "1 of 2 by the median, 1 of 2 by the fastest batch."
    ]


def test_halo_compares_with_the_messages_of_the_host_alone():
    times = HaloTimes()
    for variant, way, value in (
        ("messages", HOST, 2.0),
        ("messages", ORIEL, 4.0),
        ("fence", ORIEL, 1.0),
    ):
        line = {"variant": variant, "bytes": 16, "grid": [2, 1], "samples": [value]}
        times.read("mpich", way, json.dumps(line))
    assert times.ratio("fence", 16, "mpich", ORIEL) == pytest.approx(0.5)
    assert times.ratio("messages", 16, "mpich", ORIEL) == pytest.approx(2.0)
    assert times.ratio("fence", 16, "mpich", HOST) is None


def test_progress_is_told_from_waiting_for_the_target():
    times = ProgressTimes()
    for window, busy_seconds in (("allocated", 0.02), ("created", 0.3), ("dynamic", 3.01)):
        for target, seconds in (("idle", 0.01), ("busy", busy_seconds)):
            line = {"window": window, "target": target, "operations": 100_000}
            times.read("mpich", HOST, json.dumps({**line, "seconds": seconds, "busy_s": 3.0}))
    assert [window for window in times.windows() if times.waits(window, "mpich", HOST)] == [
        "dynamic"
    ]
    assert times.ratio("created", "mpich", HOST) == pytest.approx(30)
    assert times.median("dynamic", "busy", "mpich", HOST) == pytest.approx(30.1)


def test_one_slow_run_does_not_move_the_median():
    timings = Timings()
    for value in (1.0, 1.1, 50.0):
        line = {"row": "put_lock", "window": "created", "bytes": 65536, "samples": [value]}
        timings.read("mpich", HOST, json.dumps(line))
    row = Row("put_lock", "created", 65536)
    assert timings.median(row, "mpich", HOST) == pytest.approx(1.1)
    assert timings.fastest(row, "mpich", HOST) == pytest.approx(1.0)


def test_rows_compare_runs_of_one_distance():
    """Ours ran twice far and once near, the host once far and twice near: near is what both have as
    well as far, and at neither are the times of the two mixed."""
    timings = Timings()
    near, far = (110, 115), (520, 530)
    for way, runs in {
        HOST: [(0.3, near), (0.31, near), (0.6, far)],
        ORIEL: [(0.07, near), (0.27, far), (0.28, far), (0.2, (112, 525)), (9.0, (110, 30000))],
    }.items():
        for value, trips in runs:
            line = {"row": "put_fence", "window": "allocated", "bytes": 8, "samples": [value]}
            timings.read("mpich", way, json.dumps({**line, "round_trip_ns": trips}))
    row = Row("put_fence", "allocated", 8)
    assert timings.support(row) == {"near": 1, "far": 1}
    assert timings.distance(row) == "near"
    assert timings.median(row, "mpich", ORIEL) == pytest.approx(0.07)
    assert timings.median(row, "mpich", HOST) == pytest.approx(0.305)
    assert not timings.misses([row])
