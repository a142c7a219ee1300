# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench` runs tiny, so that it cannot rot (S1, S3, S4, E4, E14, N6, N7, Q8). The programs
check their data themselves; no time is checked here. test_paper_command.py runs most benchmarks on
MPICH, so these tests take the other hosts in turn."""

from __future__ import annotations

import json

import pytest
from conftest import oriel
from oriel.bench.alltoallv_times import VARIANTS as EXCHANGES
from oriel.bench.collectives import CALLS
from oriel.bench.collectives import VARIANTS as COLLECTIVES
from oriel.bench.recording import CALLS as RECORDED
from oriel.bench.recording import ROUND_TRIPS
from oriel.bench.recording import TITLES as RECORDING_WAYS
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import own_program

WINDOW_ROWS = 32  # 7 rows of two sizes and two of one size, on two kinds of windows
# 7 kinds of synchronization, of 5 operations in three sizes and two in one, and rows of puts and of
# gets in three sizes, on two kinds; and the rows of sizes, vectors and dynamic windows.
SIZE_ROWS = 2 * 7 * 2
VECTOR_ROWS = 3 * 2 * 2
DYNAMIC_ROWS = 3 * 2 + 1
ALL_WINDOW_ROWS = (7 * (5 * 3 + 2) + 2 * 3) * 2 + SIZE_ROWS + VECTOR_ROWS + DYNAMIC_ROWS
CONTENDED_ROWS = 2 * 2
MESSAGE_ROWS = 2
HALO_ROWS = 5 * 8  # messages and four kinds of epochs, eight sizes
VARIANTS = {"messages", "fence", "post_start", "flag", "notify", "get_notify"}
STENCIL_VARIANTS = VARIANTS | {"limit"}
WAVEFRONT_VARIANTS = {"messages", "post_start", "flag", "notify", "limit"}
TREE_VARIANTS = VARIANTS | {"reduce"}


def measure(subject, host, tmp_path, *words):
    """Runs a benchmark tiny. Returns what it printed, and its results."""
    words = ("--quick", "--mpi", host.name, "--output", tmp_path, *words)
    ended = oriel("bench", subject, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout, json.loads((tmp_path / f"{subject}.json").read_text(encoding="utf-8"))


def test_micro_on_each_host(host, tmp_path):
    history = tmp_path / "history.jsonl"
    _, results = measure("micro", host, tmp_path, "--save", history)
    (line,) = map(json.loads, history.read_text(encoding="utf-8").splitlines())
    assert line["number"][host.name] > 0
    assert len(line["times"][host.name]) == WINDOW_ROWS + MESSAGE_ROWS
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}
    assert len(results["rows"]) == 2 * (WINDOW_ROWS + MESSAGE_ROWS)
    assert all(row["median"] > 0 for row in results["rows"])
    assert host.version in results["hosts"][host.name]
    for picture in ("micro.png", "micro.svg", "history.png"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (("--all",), ALL_WINDOW_ROWS),
        (("--crowded", "-n", 4), WINDOW_ROWS),
        (("--set", "contended"), CONTENDED_ROWS),
    ],
    ids=["all", "crowded", "contended"],
)
def test_micro_of_every_row_and_crowded(host, words, rows, tmp_path):
    _, results = measure("micro", host, tmp_path, *words)
    counted = [row for row in results["rows"] if row["way"] == ORIEL and row["window"] != "none"]
    assert len(counted) == rows
    assert results["crowded"] == ("--crowded" in words)
    for figure in ("", "_sizes", "_vectors", "_dynamic") if "--all" in words else ("",):
        assert (tmp_path / f"micro{figure}.png").stat().st_size > 1000


@pytest.mark.hosts("mpich")
def test_report(host, tmp_path):
    """Every call was measured every way; the records were made, and read (B1)."""
    _, results = measure("report", host, tmp_path)
    rows = {(row["row"], row["way"]): row for row in results["rows"]}
    # A host alone has no notified access.
    calls = {(row, way) for row in (*RECORDED, *ROUND_TRIPS) for way in RECORDING_WAYS}
    assert set(rows) == calls - {("put_notify", HOST)}
    assert all(row["median"] >= row["fastest"] > 0 for row in rows.values())
    assert results["events_per_second"] > 0
    for picture in ("report.png", "report.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


# Between nodes the programs differ by what test_nodes.py runs on each host.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    "subject",
    [
        "micro",
        "halo",
        "progress",
        "network",
        "notify",
        "stencil",
        "wavefront",
        "tree",
        "cholesky",
        "lu",
        "windows",
        "threads",
        "alltoallv",
        "collectives",
        "sparse",
        "transactions",
    ],
)
def test_between_nodes(host, subject, three_nodes, tmp_path):
    """The same with a rank on each of two nodes (S6, Q8): three_nodes says whether that can be."""
    ranks = ("-n", 2) if subject in ("collectives", "transactions") else ()  # more take long
    stdout, results = measure(subject, host, tmp_path, "--hosts", 2, *ranks)
    assert "2 nodes made of network namespaces" in stdout
    assert results["nodes"] == 2
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}


@pytest.mark.hosts("intel")
def test_pending(host):
    """Epochs that cannot start yet are held in any number, and complete when they can (E4)."""
    ended = oriel("bench", "pending", "--quick", "--mpi", host.name)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1,000 pending" in ended.stdout


@pytest.mark.hosts("openmpi")
def test_halo(host, tmp_path):
    _, results = measure("halo", host, tmp_path, "-n", 2, "--window", "created")
    assert {row["way"] for row in results["rows"]} == {HOST, ORIEL}
    assert len(results["rows"]) == 2 * HALO_ROWS
    assert all(row["ratio"] > 0 for row in results["rows"])
    assert results["grid"] == [2, 1]
    for picture in ("halo.png", "halo.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("intel")
def test_transactions(host, tmp_path):
    """The program compares every word with the sum of its updates (E14). With more ranks than cores
    as well, so that updates meet at a target."""
    _, results = measure(
        "transactions", host, tmp_path, "-n", "2,4", "--window", "allocated", "--words", 5
    )
    found = [
        (row["ranks"], row["compute_us"], row["way"], row["variant"]) for row in results["rows"]
    ]
    assert sorted(found) == [
        (ranks, compute_us, way, variant)
        for ranks in (2, 4)
        for compute_us in (0, 20)
        for way, variants in (
            (HOST, ["blocking"]),
            (ORIEL, ["blocking", "nonblocking", "reordered"]),
        )
        for variant in variants
    ]
    assert all(row["per_second"] > 0 for row in results["rows"])
    for picture in ("transactions.png", "transactions.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("openmpi")
def test_cholesky(host, tmp_path):
    """With more ranks than cores as well, so that tiles are forwarded, and rings that overflow. The
    program checks every factor."""
    _, results = measure("cholesky", host, tmp_path, "-n", "2,5", "--window", "created")
    found = [
        (row["ranks"], row["tiles_per_rank"], row["way"], row["variant"]) for row in results["rows"]
    ]
    assert sorted(found) == [
        (ranks, tiles, way, variant)
        for ranks in (2, 5)
        for tiles in (1, 3)
        for way, variants in (
            (HOST, ["messages", "onesided"]),
            (ORIEL, ["messages", "notify", "onesided"]),
        )
        for variant in variants
    ]
    assert all(row["ratio"] > 0 for row in results["rows"])
    for picture in ("cholesky.png", "cholesky.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("intel")
def test_lu(host, tmp_path):
    """With more ranks than cores as well. The program checks every factor and every row that it
    sends (E14)."""
    _, results = measure("lu", host, tmp_path, "-n", "2,5", "--window", "allocated")
    of_hosts = {"isend", "bcast", "blocking", "early_complete"}
    found = [(row["ranks"], row["order"], row["way"], row["variant"]) for row in results["rows"]]
    assert sorted(found) == sorted(
        (ranks, order, way, variant)
        for ranks in (2, 5)
        for order in (33, 64)
        for way, variants in ((HOST, of_hosts), (ORIEL, of_hosts | {"nonblocking"}))
        for variant in variants
    )
    assert all(row["ratio"] > 0 and 0 < row["share"] < 1 for row in results["rows"])
    assert results["residual"] > 0 and results["difference"] > 0
    for picture in ("lu.png", "lu.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("openmpi")
def test_progress(host, tmp_path):
    _, results = measure("progress", host, tmp_path)
    kinds = {(row["way"], row["window"], row["target"]) for row in results["rows"]}
    assert len(kinds) == len(results["rows"]) == 2 * 3 * 2 + 2  # handle: Oriel's alone
    assert all(row["median"] > 0 for row in results["rows"])
    assert all(len(run) == 20 for row in results["rows"] for run in row["first"])
    assert all(row["first"] for row in results["rows"] if row["target"] == "busy")
    for picture in ("progress.png", "progress.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


def _kinds(variants: set[str], ranks: tuple, cases: tuple) -> set[tuple]:
    """What must have been measured. A host alone has no notified access."""
    return {
        (each, variant, way, case)
        for each in ranks
        for variant in variants
        for way in (HOST, ORIEL)
        for case in cases
        if way == ORIEL or variant not in ("notify", "get_notify")
    }


@pytest.mark.parametrize(
    ("subject", "words", "ranks", "variants", "case", "cases"),
    [
        # A rank with two neighbours at least, and one that is both child and parent.
        (
            "stencil",
            ("--window", "created"),
            (2, 3),
            STENCIL_VARIANTS,
            "scaling",
            ("weak", "strong"),
        ),
        (
            "wavefront",
            ("--window", "allocated"),
            (3,),
            WAVEFRONT_VARIANTS,
            "columns_per_rank",
            (16, 128, 1024),
        ),
        (
            "tree",
            ("--window", "created", "--arity", 2),
            (2, 4),
            TREE_VARIANTS,
            "bytes",
            (8, 64, 512, 4096),
        ),
    ],
    ids=["stencil", "wavefront", "tree"],
)
@pytest.mark.hosts("openmpi")
def test_notified_access(host, subject, words, ranks, variants, case, cases, tmp_path):
    """The programs check every iteration and every round (N7)."""
    on_ranks = ("-n", ",".join(map(str, ranks)))
    _, results = measure(subject, host, tmp_path, *words, *on_ranks)
    found = [(row["ranks"], row["variant"], row["way"], row[case]) for row in results["rows"]]
    assert set(found) == _kinds(variants, ranks, cases)
    assert len(found) == len(set(found))
    assert all(row["median"] > 0 and row["ratio"] > 0 for row in results["rows"])
    for picture in (f"{subject}.png", f"{subject}.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("openmpi", "intel")  # Intel MPI has counters of its own
def test_notify(host, tmp_path):
    _, results = measure("notify", host, tmp_path)
    kinds = {(row["measure"], row["row"], row["way"]) for row in results["rows"]}
    for way in (HOST, ORIEL):
        assert {row for measure, row, its in kinds if (measure, its) == ("put", way)} >= {
            "messages",
            "busy_wait",
            "flag",
            "fence",
            "pscw",
        }
    assert kinds >= {
        ("put", "put_notify", ORIEL),
        ("put", "put_notify_flush", ORIEL),
        ("get", "get_notify", ORIEL),
        ("overlap", "put_notify", ORIEL),
        ("calls", "start", ORIEL),
        ("matching", "waiting_each", ORIEL),
    }
    epochs = {(row, way) for measure, row, way in kinds if measure == "epochs"}
    assert epochs == {
        (kind, way) for kind in ("lock", "fence", "pscw") for way in (HOST, ORIEL)
    } | {(kind, ORIEL) for kind in ("ilock", "ifence", "ipscw")}
    assert (("put", "counter", HOST) in kinds) == (host.name == "intel")
    assert kinds >= {("put", "counter", ORIEL), ("get", "counter", ORIEL)}
    # Of calls shorter than a tick of the clock nothing may be left.
    assert all(row["median"] > 0 for row in results["rows"] if row["measure"] in ("put", "get"))
    assert results["misses"] or results["uncounted"]
    for name in ("notify_put", "notify_get", "notify_overlap", "notify_epochs"):
        for kind in ("png", "svg"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


@pytest.mark.hosts("openmpi")
def test_windows(host, tmp_path):
    _, results = measure("windows", host, tmp_path)
    kinds = {"allocated", "created", "created-alloc", "dynamic", "dynamic-alloc"}
    of_oriel = {"duplicate", "handle", "handle-alloc"}
    windows = {HOST: kinds, ORIEL: kinds | of_oriel}
    local = {"duplicate-renewed"} | {
        f"handle-{what}" for what in ("renewed", "renewed-alloc", "window", "window-alloc")
    }
    made = {HOST: set(), ORIEL: local}
    puts = [row for row in results["rows"] if row["measure"] == "put"]
    assert {(row["window"], row["way"]) for row in puts} == {
        (window, way) for way in windows for window in windows[way]
    } | {("handle-alloc-new", ORIEL)}
    assert len(puts) == (2 * len(kinds) + len(of_oriel) + 1) * 3
    assert all(row["median"] > 0 and row["penalty"] > 0 for row in puts)
    making = {
        (row["window"], row["others"], row["way"])
        for row in results["rows"]
        if row["measure"] == "making"
    }
    assert making == {
        (window, others, way)
        for way in windows
        for window in windows[way] | made[way] | {"attach", "attach-alloc"}
        for others in (0, 3)
    }
    for picture in ("windows.png", "windows.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.hosts("openmpi")
def test_threads(host, tmp_path):
    """What an MPI does not grant is not measured, and said."""
    stdout, results = measure("threads", host, tmp_path)
    granted = {(hint["way"], hint["scope"], hint["order"]) for hint in results["hints"]}
    assert granted == {
        (way, scope, order)
        for way in (HOST, ORIEL)
        for scope in ("process", "thread")
        for order in (False, True)
    }
    granted = {
        (hint["way"], hint["scope"], hint["order"]) for hint in results["hints"] if hint["granted"]
    }
    assert granted >= {(way, "process", False) for way in (HOST, ORIEL)}
    cases = [("puts", threads, 1) for threads in (1, 2, 4)]
    cases += [("puts", threads, 4096) for threads in (1, 4)]
    cases += [("row", 1, size) for size in (1, 4096)]
    cases += [(measure, threads, 1) for measure in ("idle", "busy") for threads in (2, 4)]
    found = [
        (row["way"], row["scope"], row["order"], row["measure"], row["threads"], row["bytes"])
        for row in results["rows"]
    ]
    assert set(found) == {(*window, *case) for window in granted for case in cases}
    assert len(found) == len(set(found))
    assert all(row["median"] > 0 for row in results["rows"])
    if len(granted) < len(results["hints"]):
        assert "not supported" in stdout
    for name in ("threads", "threads_size", "threads_row"):
        for kind in ("png", "svg"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


def _exchanges_measured(results: dict) -> bool:
    """Each of the host's calls and Oriel's algorithms was measured, or says why it could not be;
    the host's calls were."""
    measured = {(row["way"], row["variant"]) for row in results["rows"]}
    failed = {(row["way"], row["variant"]) for row in results["failed"]}
    all_of_them = {(way, variant) for way, names in EXCHANGES.items() for variant in names}
    return measured | failed == all_of_them and not any(way == HOST for way, _ in failed)


@pytest.mark.hosts("intel")
def test_alltoallv(host, tmp_path):
    """The program looks at every element (C2)."""
    stdout, results = measure("alltoallv", host, tmp_path, "-n", "2,3")
    assert _exchanges_measured(results)
    cases = {(row["ranks"], row["bytes"]) for row in results["rows"]}
    # 32 KB in all: 8 KB to each of two ranks, and whole elements to each of three.
    strong = {(2, 8 << 10), (3, 3640)}
    assert cases == {(ranks, size) for ranks in (2, 3) for size in (8, 32 << 10)} | strong
    assert results["totals"] == [32 << 10]
    assert "strong scaling" in stdout
    assert all(row["median"] > 0 and row["ratio"] > 0 for row in results["rows"])
    for name in ("alltoallv", "alltoallv_scaling"):
        for kind in ("png", "svg"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


@pytest.mark.hosts("openmpi")
def test_collectives(host, tmp_path):
    """The program looks at every element (C4). With a rank that has two neighbours."""
    _, results = measure("collectives", host, tmp_path, "-n", 3)
    found = [
        (row["call"], row["ranks"], row["bytes"], row["way"], row["variant"])
        for row in results["rows"]
    ]
    assert results["failed"] == []  # all three have all of the calls
    assert sorted(found) == sorted(
        (call, 3, size, way, variant)
        for call in CALLS
        for size in (8, 32 << 10)
        for way, variants in COLLECTIVES.items()
        for variant in variants
    )
    assert all(row["median"] > 0 and row["ratio"] > 0 for row in results["rows"])
    assert all(
        row["making"] > 0 and row["breakeven"]
        for row in results["rows"]
        if row["variant"] in ("init", "oriel")
    )
    for kind in ("png", "svg"):
        assert (tmp_path / f"collectives.{kind}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--bytes", "12"), 'the option --bytes takes a multiple of 8 above 0, not "12"'),
        (("--bytes", "2147483640"), "too long for MPI_Alltoallw"),
        (("--call", "alltoallv"), "none of what was asked for exists"),
        (("--sizes", "8"), "the option --sizes is unknown"),
    ],
)
@pytest.mark.hosts("mpich")
def test_what_the_program_cannot_do_is_a_sentence(host, words, sentence):
    program = own_program(host, "collectives")
    ended = oriel("run", "-n", 2, "--mpi", host.name, program, *words)
    assert ended.returncode != 0
    assert sentence in ended.stderr


@pytest.mark.hosts("intel")
def test_sparse(host, tmp_path):
    """The exchange of a matrix in a file, and of one that is made (C3)."""
    matrix = tmp_path / "ring.mtx"
    entries = [f"{row + 1} {(row + 1) % 9 + 1}" for row in range(9)]
    head = ("%%MatrixMarket matrix coordinate pattern general", "9 9 9")
    matrix.write_text("\n".join((*head, *entries)) + "\n")
    _, results = measure("sparse", host, tmp_path, "-n", 3, "--matrix", matrix, "--matrix", "mesh")
    assert _exchanges_measured(results)
    counts = {matrix["matrix"]: matrix["counts"] for matrix in results["matrices"]}
    assert counts["ring"] == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    longest = {row["matrix"]: row["bytes"] for row in results["rows"]}
    assert longest == {name: 8 * max(map(max, pattern)) for name, pattern in counts.items()}
    assert all(row["median"] > 0 and row["ratio"] > 0 for row in results["rows"])
    for name in ("sparse", "sparse_counts"):
        for kind in ("png", "svg"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--matrix", "nosuch.mtx"), "There is no file nosuch.mtx"),
        (("--matrix", "/dev/null"), "There is no file /dev/null"),
        (("--matrix", "unit_cube", "-n", 126), "too few to deal them to 126 ranks"),
    ],
)
@pytest.mark.hosts("mpich")
def test_a_wrong_matrix_is_a_sentence(host, words, sentence, tmp_path):
    ended = oriel("bench", "sparse", *words, "--mpi", host.name, "--output", tmp_path)
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (None, "cannot be read"),
        ("1 2\n3 x\n", 'line 2 is "3 x"'),
        ("1 2\n3\n", 'line 2 is "3"'),
        ("1 2 3\n4 5\n", 'line 1 is "1 2 3"'),
        ("1 -2\n4 5\n", 'line 1 is "1 -2"'),
        ("1 2\n3 4\n5\n", 'it goes on with "5"'),
    ],
)
@pytest.mark.hosts("mpich")
def test_a_wrong_file_of_counts_is_a_sentence(host, counts, sentence, tmp_path):
    path = tmp_path / "counts.txt"
    if counts is not None:
        path.write_text(counts)
    program = own_program(host, "alltoallv")
    ended = oriel("run", "-n", 2, "--mpi", host.name, program, "--counts", path)
    assert ended.returncode != 0
    assert sentence in ended.stderr


def test_unknown_mpi_is_a_sentence():
    ended = oriel("bench", "micro", "--mpi", "nosuch")
    assert ended.returncode == 2
    assert "--mpi: invalid choice: 'nosuch'" in ended.stderr
