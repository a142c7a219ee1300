# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of measured exchanges, and how it is shown."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from oriel.bench import alltoallv, measured
from oriel.bench.alltoallv_times import AlltoallvTimes
from oriel.bench.measured import Exchange, Measured
from oriel.bench.ways import HOST, ORIEL
from oriel.hosts.host import Host, HostError

MPICH = Host("mpich", Path("/mpich"), Path("/mpich/bin/mpiexec"), Path("/liboriel.so"), "5.0.2")
OLD = Exchange("Xeon", "mpich 5.0.2", 2, 1, 8, 1.0, 2.0, 3.0, 4.0)
OTHERS = [
    dataclasses.replace(OLD, bytes=64),
    dataclasses.replace(OLD, ranks=4),
    dataclasses.replace(OLD, ranks=4, nodes=2),
    dataclasses.replace(OLD, mpi="openmpi 5.0.11"),
    dataclasses.replace(OLD, processor="EPYC"),
]


HIERARCHY = {"notified_hierarchy": 0.5, "notified_hierarchy_making": 6.0}


def known(file: Path | None, *lines: Exchange) -> Measured:
    return Measured(file, "Xeon", "", dict.fromkeys(lines, "notified"))


@pytest.fixture
def library_reads(monkeypatch):
    """What the library says is in the file."""
    return lambda told: monkeypatch.setattr(measured, "read", lambda: told)


def rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    return [line.split("\t") for line in lines[1:]]


def test_a_later_run_replaces_what_it_measures_again(library_reads, tmp_path):
    path = tmp_path / "not" / "there" / "yet"
    library_reads(known(path, OLD, *OTHERS))
    new = dataclasses.replace(OLD, notified=1234.5678, two_sided=0.25)
    assert str(path) in measured.keep([new])
    found = rows(path)
    assert len(found) == 1 + len(OTHERS)
    nothing = ["0"] * 6
    assert ["Xeon", "mpich 5.0.2", "2", "1", "8", "1234.57", "0.25", "3", "4", *nothing] in found
    assert ["EPYC", "mpich 5.0.2", "2", "1", "8", "1", "2", "3", "4", *nothing] in found
    assert list(path.parent.iterdir()) == [path]


def test_what_was_not_measured_is_0(library_reads, tmp_path):
    path = tmp_path / "file"
    library_reads(known(path, OLD))
    lock = {"lock": 0.25, "lock_making": 900.0}
    measured.keep([dataclasses.replace(OLD, ranks=4, nodes=2, **HIERARCHY, **lock)])
    key = ["Xeon", "mpich 5.0.2"]
    assert rows(path) == [
        [*key, "2", "1", "8", "1", "2", "3", "4", "0", "0", "0", "0", "0", "0"],
        [*key, "4", "2", "8", "1", "2", "3", "4", "0.5", "6", "0", "0", "0.25", "900"],
    ]


def test_results_remain_where_what_was_measured_cannot_be_read(monkeypatch):
    def fails() -> Measured:
        raise HostError("oriel-measured did not run.")

    monkeypatch.setattr(measured, "read", fails)
    told = alltoallv.keep_for_auto({2: AlltoallvTimes()}, [MPICH], 1)
    assert told == ["The times are not kept for auto: oriel-measured did not run."]


def test_nothing_is_lost_where_it_cannot_be_kept(library_reads, tmp_path):
    library_reads(known(None))
    assert "ORIEL_MEASURED" in measured.keep([OLD])
    (tmp_path / "folder").mkdir()
    library_reads(known(tmp_path / "folder"))
    assert measured.keep([OLD]).startswith("The times are not kept for auto: ")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    (tmp_path / "file").write_text("")
    library_reads(known(tmp_path / "file" / "below"))
    assert measured.keep([OLD]).startswith("The times are not kept for auto: ")


def test_what_the_library_prints_is_read():
    told = {"file": "/a/b", "processor": "Xeon", "fault": "line 1 ...", "lines": []}
    told["lines"].append({**dataclasses.asdict(OLD), "choice": "two_sided"})
    found = measured.told_by(json.dumps(told))
    assert found == Measured(Path("/a/b"), "Xeon", "line 1 ...", {OLD: "two_sided"})
    assert measured.told_by(json.dumps({**told, "file": ""})).file is None


def test_an_mpi_has_one_name_by_both_of_its_abis():
    both = [MPICH, dataclasses.replace(MPICH, name="mpich-abi")]
    assert [measured.mpi_name(host) for host in both] == ["mpich 5.0.2"] * 2
    here = known(None, OLD, *OTHERS)
    assert list(here.on(MPICH)) == [OLD, *OTHERS[:3]]
    assert not here.on(dataclasses.replace(MPICH, version="5.0.3"))


def test_what_is_kept_is_what_would_be_carried_out(library_reads):
    library_reads(known(None))
    times = AlltoallvTimes()
    for variant, way, value in (
        ("alltoallv", HOST, 1.0),
        ("notified", ORIEL, 3.0),
        ("two_sided", ORIEL, 2.0),
    ):
        for size in (8, 64):
            line = {"variant": variant, "bytes": size, "samples": [value] * 3, "making": [50.0]}
            if (variant, size) == ("two_sided", 64):
                line = {"variant": variant, "bytes": size, "failed": "there is no memory"}
            times.read("mpich", way, json.dumps(line))
    line = {"variant": "fence", "bytes": 8, "samples": [1.0], "making": [80.0]}
    times.read("mpich", ORIEL, json.dumps(line))
    exchanges = alltoallv.measured_exchanges({2: times}, [MPICH], 1)
    expected = Exchange("Xeon", "mpich 5.0.2", 2, 1, 8, 3.0, 2.0, 50.0, 50.0)
    assert exchanges == [dataclasses.replace(expected, fence=1.0, fence_making=80.0)]


def test_the_hierarchy_is_kept_where_something_is_gathered(library_reads):
    library_reads(known(None))
    times = AlltoallvTimes()
    for variant in ("notified", "two_sided", "notified_hierarchy"):
        line = {"variant": variant, "bytes": 8, "samples": [3.0], "making": [50.0]}
        times.read("mpich", ORIEL, json.dumps(line))
    kept = {
        (ranks, nodes): alltoallv.measured_exchanges({ranks: times}, [MPICH], nodes)[0]
        for ranks, nodes in ((4, 1), (4, 4), (4, 2))
    }
    assert [line.notified_hierarchy for line in kept.values()] == [None, None, 3.0]
    assert kept[4, 2].notified_hierarchy_making == 50.0


def test_the_hierarchy_is_shown_where_it_was_measured():
    line = dataclasses.replace(OLD, ranks=4, nodes=2, **HIERARCHY)
    known_here = Measured(None, "Xeon", "", {line: "notified_hierarchy"})
    shown = "\n".join(measured.choice_lines(known_here, MPICH))
    assert "notified_hierarchy (1.000, 2.000, 0.500, –, –)" in shown


def test_a_table_by_size_and_layout():
    choices = {line: "notified" for line in [OLD, *OTHERS]}
    choices[OTHERS[2]] = "two_sided"
    _, head, *lines = measured.choice_lines(Measured(None, "Xeon", "", choices), MPICH)
    lines = [line.split() for line in lines]
    times = ["(1.000,", "2.000,", "–,", "–,", "–)"]
    assert " ".join(head.split()) == "2 ranks 4 ranks 4 ranks on 2 nodes"
    assert lines[0] == ["8", "B", "notified", *times, "notified", *times, "two_sided", *times]
    assert lines[1] == ["64", "B", "notified", *times, "–", "–"]
    assert len(lines) == 2


def test_how_to_measure():
    (line,) = measured.choice_lines(known(None, OTHERS[3], OTHERS[4]), MPICH)
    assert "auto times the first starts of each request" in line
    assert "`oriel bench alltoallv --mpi mpich`" in line
