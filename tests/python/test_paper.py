# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of `oriel paper` is complete, each of its numbers can be read from the results of
its run, and docs/evidence.md has a row for each."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from oriel.bench.alltoallv_times import ALGORITHM_TITLES, BASELINE
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.demo.patterns import PATTERNS
from oriel.paper import campaign, comparisons, documents
from oriel.paper.campaign import Outcome
from oriel.paper.catalogue import PAPERS
from oriel.paper.entries import HIGHER, LOWER, Entry, Paper, Value
from oriel.paper.readings import OURS, OWN, Reading, breakeven, field, least, less, most, one, ratio
from oriel.paper.runs import BY_NAME, RUNS, PaperRun

MPICH = "mpich"
EVIDENCE = Path(__file__).resolve().parents[2] / "docs/evidence.md"
ENTRIES = [(paper, entry) for paper in PAPERS for entry in paper.entries]
ITS_NAMES = [f"{paper.name}, {entry.where}, {entry.run}" for paper, entry in ENTRIES]

# How many figures each paper has, and its tables.
FIGURES = {"epochs": 13, "synchronization": 6, "notified": 5, "quo-vadis": 12, "collectives": 4}
TABLES = {
    "epochs": [],
    "synchronization": ["Table 1", "Table 2"],
    "notified": ["Table I,"],
    "quo-vadis": ["Table 1"],
    "collectives": [],
}


def _rows(**fields) -> list[dict]:
    """A row for each combination of the fields, which are lists, with a number of its own."""
    rows = []
    for number, values in enumerate(itertools.product(*fields.values())):
        row = {"host": MPICH, **dict(zip(fields, values)), "median": 1.0 + number}
        row |= {name: row["median"] for name in ("ratio", "speed", "share", "overlap", "penalty")}
        row |= {"per_second": 1e6, "breakeven": 1, "latencies_us": [row["median"]]}
        rows.append(row)
    return rows


def _halo() -> list[dict]:
    sizes = [16, 64, 256, 1 << 10, 16 << 10, 64 << 10, 256 << 10]
    return _rows(variant=["messages", "fence", "post_start", "lock"], bytes=sizes, way=WAYS)


def _notify() -> list[dict]:
    return [
        *_rows(
            measure=["put", "get"],
            row=["messages", "fence", "pscw", "put_notify", "get_notify"],
            size=[0, 8, 4 << 10, 32 << 10, 256 << 10, 4 << 20],
            way=WAYS,
        ),
        *_rows(
            measure=["epochs"],
            row=["lock", "fence", "pscw", "ilock", "ifence", "ipscw"],
            size=[8, 64 << 10],
            way=WAYS,
        ),
        *_rows(measure=["overlap"], row=["put_notify"], size=[8, 4 << 20], way=[ORIEL]),
        *_rows(
            measure=["calls"],
            row=["init", "free", "start", "put_notify", "get_notify", "test"],
            size=[1, 32],
            way=[ORIEL],
        ),
    ]


def _threads() -> list[dict]:
    return _rows(
        measure=["puts", "row"],
        threads=[1, 32],
        bytes=[1, 4096],
        scope=["process", "thread"],
        order=[False, True],
        way=WAYS,
    )


def _exchanges(**fields) -> list[dict]:
    return _rows(variant=[BASELINE, *ALGORITHM_TITLES], way=WAYS, **fields)


def _patterns() -> dict:
    """Blocking ways wait for all of the work, nonblocking ones for a tenth."""
    measurements = []
    for pattern in PATTERNS:
        metrics = {each.metric for each in pattern.observations} | {"work", "transfer"}
        for metric, way, variant in itertools.product(
            metrics, ("host", "blocking", "nonblocking"), ("pattern", "reference", "off", "on")
        ):
            after = way == "nonblocking" and variant in ("pattern", "on")
            us = 1000.0 if metric in ("work", "transfer") else 1100.0 if after else 2000.0
            us = 1050.0 if variant == "reference" and us > 1000 else us
            its = {"pattern": pattern.name, "way": way, "bytes": 1 << 20, "variant": variant}
            measurements.append({**its, "metric": metric, "samples": [us, us]})
    record = {"host": MPICH, "version": "MPICH 5", "patterns": {}, "failures": []}
    return {"hosts": [{**record, "measurements": measurements}]}


SAMPLES = {
    "patterns": _patterns,
    "transactions": lambda: _rows(
        variant=["blocking", "nonblocking", "reordered"], ranks=[2, 4], compute_us=[0, 20], way=WAYS
    ),
    "lu": lambda: _rows(
        variant=["blocking", "nonblocking"], order=[256, 512], ranks=[2, 4], way=WAYS
    ),
    "halo": _halo,
    "notify": _notify,
    "stencil": lambda: _rows(
        variant=["messages", "notify"], scaling=["weak", "strong"], ranks=[2], way=WAYS
    ),
    "tree": lambda: _rows(variant=["reduce", "notify"], bytes=[8], ranks=[2], way=WAYS),
    "cholesky": lambda: _rows(
        variant=["messages", "onesided", "notify"], tiles_per_rank=[1, 16], ranks=[2], way=WAYS
    ),
    "windows": lambda: [
        *_rows(
            measure=["put"],
            window=[
                *("allocated", "created", "dynamic", "dynamic-alloc"),
                *("handle", "handle-alloc", "handle-alloc-new"),
            ],
            bytes=[1, 4096],
            way=WAYS,
        ),
        *_rows(measure=["making"], window=["allocated"], others=[0, 100], way=WAYS),
    ],
    "progress": lambda: _rows(window=["dynamic"], target=["idle", "busy"], way=WAYS),
    "threads": _threads,
    "alltoallv": lambda: _exchanges(ranks=[2, 8], bytes=[8, 32 << 10, 128 << 10, 1 << 20, 2 << 20]),
    "sparse": lambda: _exchanges(matrix=["mesh"]),
}


def _sample(run: str) -> dict:
    made = SAMPLES[run.removesuffix("-nodes")]()
    results = made if isinstance(made, dict) else {"rows": made, "hosts": {MPICH: "MPICH 5"}}
    machine = {"processor": "P", "cores": 2, "kernel": "K", "load": 0.5, "date": "2026-01-02T"}
    return {
        "machine": {**machine, "commit": None},
        "misses": {MPICH: {"L1": {"warm": [1, 3, 2]}}},
        "matrices": [{"matrix": "mesh", "counts": [[0, 3], [1, 0]]}],
        **results,
    }


@pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
def test_every_figure_and_table_is_there(paper):
    wheres = [entry.where for entry in paper.entries]
    for number in range(1, FIGURES[paper.name] + 1):
        assert any(re.match(rf"Figure {number}(?!\d)", where) for where in wheres), number
    for table in TABLES[paper.name]:
        assert any(where.startswith(table) for where in wheres), table
    assert "Abstract" in wheres


def test_every_run_is_shown():
    assert {entry.run for _, entry in ENTRIES if entry.run} == set(BY_NAME)
    assert len(BY_NAME) == len(RUNS)


@pytest.mark.parametrize(("paper", "entry"), ENTRIES, ids=ITS_NAMES)
def test_every_number_can_be_read(paper, entry):
    if not entry.run:
        assert not entry.values and not entry.pictures
        return
    assert entry.values or entry.pictures
    results = _sample(entry.run)
    for value in entry.values:
        assert value.number is not None or value.text, value.label
        found = value.read(results, MPICH)
        assert found is not None, value.label
        assert abs(found.number) < 1e9
        assert value.read(results, "another") is None, value.label


def test_what_decides_of_a_pattern_is_read():
    results = _sample("patterns")
    entry = next(entry for _, entry in ENTRIES if entry.where == "Figure 2")
    left, quotient = (value.read(results, MPICH) for value in entry.values)
    assert left == Reading(pytest.approx(5), "1 MB")  # 1100 less 1050 of 1000
    assert quotient.number == pytest.approx(0.55)


def test_picks_hold_for_both_rows_of_a_ratio():
    rows = [
        {"host": MPICH, "way": ORIEL, "ranks": 2, "median": 1.0},
        {"host": MPICH, "way": ORIEL, "ranks": 4, "median": 6.0},
        {"host": MPICH, "way": HOST, "ranks": 4, "median": 3.0},
        {"host": MPICH, "way": HOST, "ranks": 8, "median": 1.0},
    ]
    results = {"rows": rows}
    assert ratio(OURS, OWN, ranks=most)(results, MPICH) == Reading(2, "4 ranks")
    assert ratio(OURS, OWN, ranks=least)(results, MPICH) is None
    assert less(ratio(OURS, OWN, ranks=most))(results, MPICH) == Reading(-100, "4 ranks")
    assert one(OURS, field("median", 10), ranks=least)(results, MPICH) == Reading(10, "2 ranks")
    assert one(OURS)(results, MPICH) is None  # two rows


def test_the_least_of_several_rows_below_counts():
    rows = [
        {"host": MPICH, "way": ORIEL, "row": "notify", "median": 1.0},
        {"host": MPICH, "way": HOST, "row": "fence", "median": 4.0},
        {"host": MPICH, "way": HOST, "row": "pscw", "median": 2.0},
    ]
    below = [{**OWN, "row": row} for row in ("fence", "pscw", "unknown")]
    assert ratio(OURS, below)({"rows": rows}, MPICH) == Reading(0.5)


def test_never_is_not_as_good():
    rows = [{"host": MPICH, "breakeven": "never"}]
    found = one({}, breakeven)({"rows": rows}, MPICH)
    assert comparisons.number_text(found.number) == "never"
    assert Value("", 1, one({}, breakeven)).as_good(found.number) is False


@pytest.mark.parametrize(
    ("better", "number", "margin", "ours", "good"),
    [
        (LOWER, 1.0, 0, 1.0, True),
        (LOWER, 1.0, 0, 1.01, False),
        (LOWER, 1.0, 0.05, 1.04, True),
        (HIGHER, 2.0, 0, 1.9, False),
        (HIGHER, 2.0, 0.2, 1.9, True),
        (HIGHER, None, 0, 1.9, None),
    ],
)
def test_as_good_as_the_paper(better, number, margin, ours, good):
    value = Value("", number, one({}), better, margin=margin)
    assert value.as_good(ours) is good


def test_a_verdict_counts_hosts():
    value = Value("what", 1.0, one({}), text="")

    def verdict(*numbers: float | None) -> str:
        found = {str(at): Reading(each) if each else None for at, each in enumerate(numbers)}
        return comparisons.Compared(value, found).verdict

    assert verdict(0.5, 0.6) == "yes"
    assert verdict(0.5, None, 2.0) == "1 of 2"
    assert verdict(2.0, 3.0) == "no"
    assert verdict(None, None) == "not measured"


def _outcomes() -> dict[str, Outcome]:
    return {
        run.name: Outcome(
            run, "oriel " + " ".join(run.arguments(False)), 1, results=_sample(run.name)
        )
        for run in RUNS
    }


def test_page_and_evidence_have_every_entry(tmp_path):
    outcomes = _outcomes()
    outcomes["halo"] = Outcome(BY_NAME["halo"], "oriel bench halo", 3, "It <failed>.", failed=True)
    titles = comparisons.hosts_of(outcomes)
    assert titles == {MPICH: "MPICH"}
    papers = comparisons.all_shown(PAPERS, outcomes, list(titles), tmp_path)
    page = documents.page(papers, outcomes, titles)
    text = documents.evidence(papers, outcomes, titles)
    assert page.count("<h3>") == len(ENTRIES)
    assert "It &lt;failed&gt;." in page and "It <failed>." in text
    assert "http" not in page  # nothing is fetched
    for paper, _ in ENTRIES:
        assert paper.title in page and f"## {paper.title}" in text
    _has_every_row(text)


def _has_every_row(text: str) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    rows = [row for row in rows if len(row) == 6 and row[0]]
    assert all(all(row) for row in rows), "an empty cell"
    labels = [(row[0], re.sub(r"; [^;]*$", "", row[1]), row[5]) for row in rows]
    for _, entry in ENTRIES:
        for value in entry.values:
            named = f"{value.label} ({value.unit})" if value.unit else value.label
            assert (entry.where, named, entry.run) in labels
        if not entry.values:
            assert any(row[0] == entry.where and row[1] == entry.title for row in rows)


def test_evidence_is_of_this_catalogue():
    """If it fails: `oriel paper --redraw --evidence docs/evidence.md`."""
    text = EVIDENCE.read_text(encoding="utf-8")
    _has_every_row(text)
    assert all(f"| {run.name} | " in text for run in RUNS)


def test_a_run_that_fails_is_told(tmp_path):
    def run(script: str, limit_s: float = 60) -> str:
        return campaign._run(["sh", "-c", script], tmp_path, limit_s, lambda passed: None)

    assert run("exit 0") == ""
    assert run("echo hm >&2; echo '- MPICH: the run failed, so.'; exit 1") == (
        "MPICH: the run failed, so."
    )
    assert run("echo hm >&2; exit 1") == "hm"
    assert run("exit 3") == "It ended with status 3."
    assert run("sleep 60", 0.1) == "It did not end within 0.1 s."


def test_what_was_not_run_is_told(tmp_path):
    run = PaperRun("halo", ("bench", "halo"), 1)
    assert campaign.read(run, tmp_path, quick=True).problem == "Not run."
    folder = tmp_path / run.name
    folder.mkdir()
    record = {"command": "oriel bench halo", "seconds": 1, "problem": "", "failed": False}
    (folder / "run.json").write_text(json.dumps(record))
    found = campaign.read(run, tmp_path, quick=True)
    assert found.failed and found.problem == "It wrote no results."
    (folder / "halo.json").write_text(json.dumps(_sample("halo")))
    found = campaign.read(run, tmp_path, quick=True)
    assert not found.failed and found.versions == {MPICH: "MPICH 5"}


def test_drawings_have_no_numbers():
    drawing = Paper("p", "P", "A", (Entry("Figure 1", "Drawing"),))
    shown = comparisons.all_shown([drawing], {}, [], Path("."))
    assert not shown[0][1][0].rows and not shown[0][1][0].pictures
