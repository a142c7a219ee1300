# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks make of the times that their programs print."""

from __future__ import annotations

import json

import pytest
from oriel.bench import micro
from oriel.bench.halo_times import HaloTimes
from oriel.bench.micro_times import Row, Timings
from oriel.bench.progress_times import ProgressTimes
from oriel.bench.ways import HOST, ORIEL


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
    assert micro.verdicts(timings) == [
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
