# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks make of the times that their programs print."""

from __future__ import annotations

import json

import pytest
from oriel.bench import alltoallv_times, collectives, lines, micro, notify_times, recording
from oriel.bench.alltoallv_times import ALGORITHM_TITLES, AlltoallvTimes
from oriel.bench.cholesky import CholeskyTimes
from oriel.bench.collectives import CollectivesTimes
from oriel.bench.distances import Runs
from oriel.bench.halo import HaloTimes
from oriel.bench.lines import Line
from oriel.bench.lu import LuCase, LuTimes
from oriel.bench.micro_times import Row, Timings
from oriel.bench.network import NetworkRow, NetworkTimes
from oriel.bench.notify_times import NotifyTimes
from oriel.bench.progress import ProgressTimes
from oriel.bench.ratio_table import ratio_text
from oriel.bench.recording import RecordingTimes
from oriel.bench.requests import NEVER
from oriel.bench.stencil import StencilTimes
from oriel.bench.threads_times import PLAIN, Case, Hints, ThreadTimes
from oriel.bench.variant_times import rows_by_ranks
from oriel.bench.wavefront import WavefrontTimes
from oriel.bench.ways import HOST, ORIEL
from oriel.bench.windows import WindowTimes


def micro_line(row: str, window: str, size: int, samples: list[float]) -> dict:
    return {"set": "usual", "row": row, "window": window, "bytes": size, "samples": samples}


def timings_of(**medians: float) -> Timings:
    """One 8 B row on an allocated window; names are HOST_WAY."""
    timings = Timings()
    for name, value in medians.items():
        host, way = name.split("_")
        line = micro_line("put_flush", "allocated", 8, [value] * 3)
        timings.read(host, way, json.dumps(line))
    return timings


def test_ratio_is_to_the_best_host():
    timings = timings_of(mpich_host=0.2, mpich_oriel=0.03, openmpi_host=0.05, openmpi_oriel=0.02)
    row = Row("usual", "put_flush", "allocated", 8)
    assert timings.ratio(row, "mpich") == pytest.approx(0.6)
    assert timings.ratio(row, "openmpi") == pytest.approx(0.4)
    assert [host for _, host, _ in timings.misses([row])] == ["mpich"]
    assert micro.verdicts(timings) == [
        "8 B rows on allocated windows, at most half of the best host's time: "
        "1 of 2 by the median, 1 of 2 by the fastest batch."
    ]


def test_what_records_is_compared_with_oriel():
    times = RecordingTimes()
    measured = {"host": [0.1], "oriel": [0.02, 0.01], "report": [0.03], "timeline": [0.07]}
    for way, samples in measured.items():
        line = {"row": "put_flush", "samples": samples, "round_trip_ns": [0, 0]}
        times.read("mpich", way, json.dumps(line))
    # The program that measures notified puts measures empty ones, too.
    times.read("mpich", "oriel", '{"row": "put_notify", "size": 0}')
    assert times.rows() == ["put_flush"]
    assert times.ratio("put_flush", "mpich", "oriel") == pytest.approx(0.15)
    assert times.ratio("put_flush", "mpich", "report") == pytest.approx(2)
    assert times.added_ns("put_flush", "mpich", "timeline", Runs.fastest) == pytest.approx(60)
    assert recording.verdicts(times, {"mpich": "MPICH"}) == [
        "MPICH: with --report a put and a flush take 30.0 ns instead of 15.0; "
        "the goal is at most 10 ns more.",
        "MPICH: with --timeline a put and a flush take 70.0 ns instead of 15.0; "
        "the goal is at most 50 ns more.",
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


def test_stencil_compares_speeds_with_the_messages_of_the_host_alone():
    times = StencilTimes()
    for variant, way, us in (("messages", HOST, 400.0), ("notify", ORIEL, 200.0)):
        line = {"variant": variant, "scaling": "weak", "rows": 11, "columns": 101}
        times.read("mpich", way, json.dumps({**line, "accesses": 4000, "samples": [us, us]}))
    assert times.rate("notify", "weak", "mpich", ORIEL) == pytest.approx(0.02)
    assert times.speed("notify", "weak", "mpich", ORIEL) == pytest.approx(2.0)
    assert times.speed("notify", "weak", "mpich", HOST) is None
    assert times.domains == {"weak": (11, 101)}


def test_wavefront_compares_rows_with_the_messages_of_the_best_host():
    times = WavefrontTimes()
    for variant, host, way, us in (
        ("messages", "mpich", HOST, 40.0),
        ("messages", "openmpi", HOST, 20.0),
        ("messages", "intel", ORIEL, 1.0),
        ("notify", "mpich", ORIEL, 10.0),
    ):
        line = {"variant": variant, "rows": 11, "columns": 32, "ranks": 2, "samples": [us, us]}
        times.read(host, way, json.dumps(line))
    assert times.cases() == [16]
    assert times.best_host(16) == "openmpi"
    assert times.median("notify", 16, "mpich", ORIEL) == pytest.approx(1.0)
    assert times.ratio("notify", 16, "mpich", ORIEL) == pytest.approx(0.5)
    assert times.ratio("messages", 16, "mpich", HOST) == pytest.approx(2.0)


def test_intervals_are_of_the_runs_medians():
    """Ten runs: from the smallest median to the largest. Batches are no runs."""
    times = StencilTimes()
    line = {"variant": "notify", "scaling": "weak", "rows": 11, "columns": 101, "accesses": 4000}
    for run in range(7):
        samples = [100.0 + run] * 5 + [1000.0]
        times.read("mpich", ORIEL, json.dumps({**line, "samples": samples}))
    assert times.interval("notify", "weak", "mpich", ORIEL) is None
    for run in range(7, 10):
        times.read("mpich", ORIEL, json.dumps({**line, "samples": [100.0 + run]}))
    assert times.interval("notify", "weak", "mpich", ORIEL) == (100.0, 109.0)
    low, high = times.rate_interval("notify", "weak", "mpich", ORIEL)
    assert (low, high) == (pytest.approx(4 / 109), pytest.approx(4 / 100))
    (row,) = rows_by_ranks({2: times})
    assert (row["ranks"], row["interval"]) == (2, (100.0, 109.0))
    assert row["rate_interval"] == (low, high)


def test_cholesky_compares_speeds_with_the_messages_of_the_host_alone():
    by_ranks = {2: CholeskyTimes(), 4: CholeskyTimes()}
    for variant, ranks, tiles, way, value in (
        ("messages", 2, 1, HOST, 200.0),
        ("messages", 4, 1, HOST, 300.0),
        ("messages", 2, 1, ORIEL, 400.0),
        ("notify", 2, 1, ORIEL, 100.0),
        ("notify", 2, 16, ORIEL, 900.0),
    ):
        line = {"variant": variant, "tiles_per_rank": tiles, "order": 128 * ranks}
        line |= {"operations": 1e6 * ranks, "samples": [value, value, 50 * value]}
        line |= {"residual": 0.01 * ranks}
        by_ranks[ranks].read("mpich", way, json.dumps(line))
    times = by_ranks[2]
    assert times.rate("messages", 1, "mpich", HOST) == pytest.approx(10)
    assert times.rate("notify", 1, "mpich", ORIEL) == pytest.approx(20)
    assert times.speed("notify", 1, "mpich", ORIEL) == pytest.approx(2)
    assert times.speed("messages", 1, "mpich", ORIEL) == pytest.approx(0.5)
    assert times.speed("notify", 16, "mpich", ORIEL) is None
    assert by_ranks[4].speed("notify", 1, "mpich", ORIEL) is None
    assert [times.residual for times in by_ranks.values()] == [0.02, 0.04]
    # A section for each case, with the ranks as its lines.
    assert [(line.labels, line.section) for line in lines.by_case(by_ranks, str)] == [
        (("1", "2"), False),
        (("1", "4"), True),
        (("16", "2"), True),
    ]


def test_lu_compares_with_the_blocking_epochs_of_the_host_and_of_oriel():
    times = LuTimes()
    for variant, order, way, value in (
        ("blocking", 64, HOST, 400.0),
        ("blocking", 64, ORIEL, 200.0),
        ("nonblocking", 64, ORIEL, 100.0),
        ("nonblocking", 32, ORIEL, 10.0),
    ):
        line = {"variant": variant, "ranks": 2, "order": order, "shares": [0.1, 0.9, 0.2]}
        line |= {"residual": 0.01, "difference": 0.001 * order, "samples": [value, value, 7.0]}
        times.read("mpich", way, json.dumps(line))
    case = LuCase(order=64, ranks=2)
    assert times.cases() == [LuCase(order=32, ranks=2), case]
    assert times.ratio("nonblocking", case, "mpich", ORIEL) == pytest.approx(0.25)
    assert times.gain(case, "mpich") == pytest.approx(0.5)
    assert times.gain(LuCase(order=32, ranks=2), "mpich") is None
    assert times.share("blocking", case, "mpich", HOST) == pytest.approx(0.2)
    assert times.difference == pytest.approx(0.064)


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


def test_a_notified_put_is_compared_with_the_host_s_message():
    times = NetworkTimes()
    for way, operation, us in (
        (HOST, "message", 3.0),
        (ORIEL, "message", 9.0),
        (ORIEL, "notified put", 2.0),
    ):
        line = {"time": operation, "bytes": 8, "target": "waits", "us": us}
        assert times.read("mpich", way, json.dumps(line)) == 1
    assert times.read("mpich", HOST, json.dumps({"check": "MPI_Get", "right": False})) == 0
    assert list(times.wrong) == ["mpich, host: wrong data by MPI_Get."]
    assert times.of_host(NetworkRow("notified put", 8, "waits"), "mpich") == 3
    assert times.of_host(NetworkRow("put + flush", 8, "waits"), "mpich") is None


def test_the_card_alone_is_measured_beside_its_model():
    times = NetworkTimes()
    line = {"time": "put", "bytes": 8, "model_us": 4.0}
    times.read_card("\n".join(json.dumps({**line, "us": us}) for us in (4.5, 4.1, 4.2)))
    assert times.of_card(NetworkRow("put + flush", 8, "computes")) == 4.2
    assert times.card_as_json()[0]["model"] == 4


def test_windows_compare_with_allocated_ones_of_the_same_host_and_way():
    times = WindowTimes()
    for window, way, value in (
        ("allocated", HOST, 0.5),
        ("dynamic", HOST, 1.5),
        ("allocated", ORIEL, 0.1),
        ("dynamic", ORIEL, 0.2),
        ("handle", ORIEL, 0.5),
    ):
        line = {"measure": "put", "window": window, "bytes": 8, "samples": [value] * 3}
        times.read("mpich", way, json.dumps(line))
    for others, value in ((100, 9.0), (0, 4.0)):
        line = {"measure": "making", "window": "attach", "others": others, "samples": [value]}
        times.read("mpich", HOST, json.dumps(line))
    assert times.penalty("dynamic", 8, "mpich", HOST) == pytest.approx(3)
    assert times.penalty("dynamic", 8, "mpich", ORIEL) == pytest.approx(2)
    assert times.penalty("dynamic", 8, "openmpi", HOST) is None
    assert times.penalty("dynamic", 8, "mpich", ORIEL, "handle") == pytest.approx(0.4)
    assert times.penalty("handle", 8, "mpich", HOST) is None
    assert times.windows("put") == ["allocated", "dynamic", "handle"]
    assert times.columns("making") == [0, 100]
    assert times.median("making", "attach", 100, "mpich", HOST) == pytest.approx(9)


def test_threads_compare_with_a_window_of_which_nothing_was_asked():
    times = ThreadTimes()
    for scope, value in (("process", 5.0), ("thread", 0.5)):
        line = {"scope": scope, "order": False}
        times.read("mpich", ORIEL, json.dumps({**line, "measure": "hints", "granted": True}))
        line |= {"measure": "puts", "threads": 32, "bytes": 1, "samples": [value] * 3}
        times.read("mpich", ORIEL, json.dumps(line))
    refused = {"measure": "hints", "scope": "thread", "order": True, "granted": False}
    times.read("mpich", ORIEL, json.dumps(refused))
    case, thread_scope = Case("puts", 32, 1), Hints("thread", order=False)
    assert times.median(case, thread_scope, "mpich", ORIEL) == pytest.approx(0.5)
    assert times.against_plain(case, thread_scope, "mpich", ORIEL) == pytest.approx(10)
    assert times.against_plain(case, Hints("thread", order=True), "mpich", ORIEL) is None
    assert times.granted[PLAIN, "mpich", ORIEL]
    assert not times.granted[Hints("thread", order=True), "mpich", ORIEL]
    assert times.threads("puts") == [32]


def alltoallv_times_of(*lines: tuple) -> AlltoallvTimes:
    """(variant, way, microseconds, those of making the request or None) each, of 8 B on MPICH."""
    times = AlltoallvTimes()
    for variant, way, value, making in lines:
        line = {"variant": variant, "bytes": 8, "samples": [value] * 3}
        line |= {"making": [making] * 2} if making else {}
        times.read("mpich", way, json.dumps(line))
    return times


def test_alltoallv_is_earned_back_against_the_hosts_blocking_call():
    times = alltoallv_times_of(
        ("alltoallv", HOST, 5.0, None),
        ("ialltoallv", HOST, 4.0, None),
        ("alltoallv_init", HOST, 5.0, 0.5),
        ("auto", ORIEL, 2.0, 100.0),
        ("fence", ORIEL, 6.0, 100.0),
        ("notified", ORIEL, 2.0, 0.1),
    )
    assert times.breakeven("auto", 8, "mpich", ORIEL) == 34
    assert times.breakeven("notified", 8, "mpich", ORIEL) == 1
    assert times.breakeven("fence", 8, "mpich", ORIEL) == NEVER
    assert times.breakeven("alltoallv_init", 8, "mpich", HOST) == NEVER
    assert times.breakeven("lock", 8, "mpich", ORIEL) is None
    assert times.breakeven("alltoallv", 8, "mpich", HOST) is None
    # Ratios are to the fastest of the host's own calls.
    assert times.ratio("auto", 8, "mpich", ORIEL) == pytest.approx(0.5)
    assert times.ratio("alltoallv", 8, "mpich", HOST) == pytest.approx(1.25)
    rows = {(row["variant"], row["way"]): row for row in times.as_json()}
    assert rows["fence", ORIEL]["breakeven"] == "never"
    assert rows["auto", ORIEL]["making"] == pytest.approx(100)


def test_alltoallv_scales_strongly_by_totals():
    assert [alltoallv_times.bytes_to_each(8 << 20, ranks) for ranks in (2, 4, 8, 16)] == [
        2 << 20,
        512 << 10,
        128 << 10,
        32 << 10,
    ]
    assert alltoallv_times.sizes([64], 3) == []  # seven bytes are no element
    by_ranks = {ranks: alltoallv_times_of(("fence", ORIEL, 5.0, None)) for ranks in (2, 3)}
    found = alltoallv_times.lines_by_total([64, 512], by_ranks)
    assert [(line.labels, line.case, line.section) for line in found] == [
        (("64 B", "2", "16 B"), 16, True),
        (("512 B", "2", "128 B"), 128, False),
        (("512 B", "3", "56 B"), 56, True),
    ]


def test_alltoallv_compares_the_papers_algorithms_with_the_hosts_blocking_call():
    times = alltoallv_times_of(
        ("alltoallv", HOST, 5.0, None),
        ("ialltoallv", HOST, 1.0, None),
        ("fence", ORIEL, 4.0, 9.0),
        ("lock", ORIEL, 10.0, 9.0),
    )
    line = Line("2 ranks, 8 B", ("2", "8 B"), times, 8)
    assert alltoallv_times.against_paper([line], {"mpich": "MPICH 5"}) == [
        "MPICH 5, against MPI_Alltoallv alone: fence takes 0.80 (2 ranks, 8 B) to 0.80 of its "
        "time, the paper's 0.56 at best; lock takes 2.00 (2 ranks, 8 B) to 2.00 of its time, the "
        "paper's 0.62 at best."
    ]


def test_alltoallv_says_why_an_algorithm_is_not_measured():
    times = alltoallv_times_of(("alltoallv", HOST, 5.0, None))
    for variant in ("lock", "fence"):
        line = {"variant": variant, "bytes": 8, "failed": "there is no memory."}
        assert times.read("mpich", ORIEL, json.dumps(line)) == 1
    assert times.median("lock", 8, "mpich", ORIEL) is None
    line = Line("2 ranks, 8 B", ("2", "8 B"), times, 8)
    assert alltoallv_times.notes([line], {"mpich": "MPICH 5"}) == [
        "MPICH 5, Oriel: lock, fence failed: there is no memory."
    ]
    table = alltoallv_times.exchanges([line], ("Ranks", "Size"), "mpich", "MPICH 5")
    assert [cell for column in table.columns for cell in column.cells].count("failed") == 2
    making = alltoallv_times.making([line], ("Ranks", "Size"), "mpich", "MPICH 5")
    assert len(making.columns) == 3 + len(ALGORITHM_TITLES)


def collectives_times_of(*lines: tuple) -> CollectivesTimes:
    """(call, ranks, bytes, variant, way, microseconds or why not, those of making the request or
    None) each, on MPICH."""
    times = CollectivesTimes()
    for call, ranks, size, variant, way, value, making in lines:
        line = {"call": call, "variant": variant, "bytes": size}
        line |= {"failed": value} if isinstance(value, str) else {"samples": [value] * 3}
        line |= {"making": [making] * 2} if making else {}
        assert times.read(ranks, "mpich", way, json.dumps(line)) == 1
    return times


def test_collectives_compare_with_the_hosts_fastest_call_and_its_blocking_one():
    times = collectives_times_of(
        ("reduce", 2, 8, "blocking", HOST, 4.0, None),
        ("reduce", 2, 8, "nonblocking", HOST, 5.0, None),
        ("reduce", 2, 8, "init", HOST, 2.0, 6.5),
        ("reduce", 2, 8, "blocking", ORIEL, 4.4, None),
        ("reduce", 2, 8, "oriel", ORIEL, 3.0, 6.5),
        ("bcast", 2, 4096, "blocking", HOST, 1.0, None),
        ("bcast", 2, 4096, "init", HOST, "the library does not have it", None),
        ("bcast", 2, 4096, "blocking", ORIEL, 1.2, None),
        ("bcast", 2, 4096, "oriel", ORIEL, 0.5, 0.25),
        ("reduce", 4, 8, "blocking", HOST, 4.0, None),
        ("reduce", 4, 8, "blocking", ORIEL, 4.0, None),
        ("reduce", 4, 8, "oriel", ORIEL, 8.0, 1.0),
    )
    lines = collectives.lines(times)
    drawn = collectives.table(lines, "mpich", "MPICH 5")
    assert list(zip(*(column.cells for column in drawn.columns))) == [
        ("reduce", "2", "8 B", "4.000", "5.000", "2.000", "3.000", "1.50", "6.5 (4)", "6.5 (7)"),
        ("reduce", "4", "8 B", "4.000", "–", "–", "8.000", "2.00", "–", "1.0 (never)"),
        ("bcast", "2", "4 KB", "1.000", "–", "failed", "0.500", "0.50", "failed", "0.2 (1)"),
    ]
    assert collectives.notes(lines, {"mpich": "MPICH 5"}) == [
        "MPICH 5: Oriel's request takes no longer than the fastest of the host's own calls in 1 of "
        "3 rows; the worst is 2.00 times (reduce, 4 ranks, 8 B).",
        "MPICH 5: with Oriel preloaded the host's blocking call takes 1.10 of its time (median; "
        "1.00 to 1.20).",
        "MPICH 5, own: MPI_Bcast_init failed: the library does not have it.",
    ]
    assert (times.calls(), times.ranks(), times.sizes()) == (["reduce", "bcast"], [2, 4], [8, 4096])
    rows = {(row["call"], row["ranks"], row["variant"], row["way"]): row for row in times.as_json()}
    assert len(rows) == len(times.as_json()) == 11
    assert rows["reduce", 2, "oriel", ORIEL]["breakeven"] == 7
    assert rows["reduce", 4, "oriel", ORIEL]["breakeven"] == "never"
    assert [(row["call"], row["variant"]) for row in times.failures_as_json()] == [
        ("bcast", "init")
    ]


def test_one_slow_run_does_not_move_the_median():
    timings = Timings()
    for value in (1.0, 1.1, 50.0):
        line = micro_line("put_lock", "created", 65536, [value])
        timings.read("mpich", HOST, json.dumps(line))
    row = Row("usual", "put_lock", "created", 65536)
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
            line = micro_line("put_fence", "allocated", 8, [value])
            timings.read("mpich", way, json.dumps({**line, "round_trip_ns": trips}))
    row = Row("usual", "put_fence", "allocated", 8)
    assert timings.support(row) == {"near": 1, "far": 1}
    assert timings.distance(row) == "near"
    assert timings.median(row, "mpich", ORIEL) == pytest.approx(0.07)
    assert timings.median(row, "mpich", HOST) == pytest.approx(0.305)
    assert not timings.misses([row])
    assert not timings.mixed(row)


def test_nothing_is_said_of_a_row_whose_ways_ran_at_different_distances():
    timings = Timings()
    for way, trips in ((HOST, (110, 112)), (ORIEL, (520, 525))):
        line = micro_line("put_fence", "allocated", 8, [1.0])
        timings.read("mpich", way, json.dumps({**line, "round_trip_ns": trips}))
    assert not timings.enough(1)
    assert timings.mixed(Row("usual", "put_fence", "allocated", 8))


def test_no_runs_are_added_where_no_distance_was_measured():
    timings = timings_of(mpich_host=0.2, mpich_oriel=0.03)
    assert timings.enough(5)


def test_contended_rows_are_not_promised_half_of_the_time():
    timings = Timings()
    assert timings.limit(Row("usual", "put_lock", "allocated", 8)) == pytest.approx(0.5)
    assert timings.limit(Row("contended", "put_lock", "allocated", 8)) == pytest.approx(1.0)


def notify_times_of(*lines: tuple) -> NotifyTimes:
    """(measure, row, size, host, way, microseconds, more) each."""
    times = NotifyTimes()
    for measure, row, size, host, way, value, *more in lines:
        line = {"measure": measure, "row": row, "size": size, "samples": [value] * 3}
        line |= {"round_trip_ns": [100, 100], **(more[0] if more else {})}
        times.read(host, way, json.dumps(line))
    return times


def test_notify_compares_with_the_best_messages_and_the_own_bound():
    times = notify_times_of(
        ("put", "messages", 8, "mpich", HOST, 1.0),
        ("put", "messages", 8, "openmpi", HOST, 0.5),
        ("put", "messages", 4096, "mpich", HOST, 2.0),
        ("put", "busy_wait", 8, "mpich", ORIEL, 0.2),
        ("put", "busy_wait", 8, "mpich", HOST, 0.1),
        ("put", "put_notify", 8, "mpich", ORIEL, 0.25),
        ("put", "put_notify", 4096, "mpich", ORIEL, 2.2),
        ("get", "get_notify", 8, "mpich", ORIEL, 0.4),
    )
    assert times.against_messages("put", 8, "mpich") == pytest.approx(0.5)
    assert times.against_messages("get", 8, "mpich") == pytest.approx(0.8)
    assert times.against_busy_wait("put_notify", 8, "mpich") == pytest.approx(1.25)
    ratio, size = times.slowest_against_messages("mpich")
    assert (ratio, size) == (pytest.approx(1.1), 4096)
    assert times.against_messages("put", 8, "openmpi") is None


def test_notify_model():
    long, longest = 32 << 10, 4 << 20
    times = notify_times_of(
        ("put", "put_notify", 0, "mpich", ORIEL, 0.25),
        ("put", "put_notify", 8, "mpich", ORIEL, 0.3),
        ("put", "put_notify", long, "mpich", ORIEL, 5.0),
        ("put", "put_notify", longest, "mpich", ORIEL, 5.0 + 1e-4 * (longest - long)),
        ("overlap", "messages", 8, "mpich", HOST, 0.25, {"latency_us": 1.0}),
    )
    assert times.latency_us("mpich") == pytest.approx(0.25)
    assert times.gap_ns("mpich") == pytest.approx(0.1)
    assert times.sizes("put") == [8, long, longest]
    assert times.overlap("overlap", "messages", 8, "mpich", HOST) == pytest.approx(0.75)
    assert times.overlap("overlap", "put_notify", 8, "mpich", ORIEL) is None


def test_epochs_are_hidden_by_kind_and_form():
    times = notify_times_of(
        ("epochs", "lock", 8, "mpich", HOST, 2.0, {"latency_us": 2.0}),
        ("epochs", "lock", 8, "mpich", ORIEL, 0.5, {"latency_us": 1.0}),
        ("epochs", "ilock", 8, "mpich", ORIEL, 0.1, {"latency_us": 1.0}),
        ("epochs", "ilock", 64, "mpich", ORIEL, 1.5, {"latency_us": 1.0}),
    )
    table = notify_times.epochs(times, {"mpich": "MPICH 5"})
    assert list(zip(*(column.cells for column in table.columns))) == [
        ("MPICH 5", "lock, unlock: own", "0", "–"),
        ("MPICH 5", "lock, unlock: Oriel", "50", "–"),
        ("MPICH 5", "lock, unlock: Oriel, nonblocking", "90", "-50"),
    ]
    assert all("overlap" in row for row in times.as_json())


def test_a_small_ratio_is_not_nothing():
    assert [ratio_text(value) for value in (None, 1.256, 0.1, 0.0612, 0.00042)] == [
        "–",
        "1.26",
        "0.10",
        "0.06",
        "0.0004",
    ]
