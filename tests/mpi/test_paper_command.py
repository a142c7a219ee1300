# SPDX-License-Identifier: BSD-3-Clause
"""`oriel paper` runs tiny on one host MPI, so that it cannot rot. Of its runs on several nodes
test_bench.py has the benchmarks."""

from __future__ import annotations

import json
import os
import re
from pathlib import PurePath

import pytest
from conftest import oriel
from oriel.hosts.host import prefix
from oriel.paper.catalogue import PAPERS
from oriel.paper.runs import RUNS

ENTRIES = [entry for paper in PAPERS for entry in paper.entries]
ONE_NODE = [run for run in RUNS if run.nodes == 1]


@pytest.mark.hosts("mpich")
def test_page_of_one_host(host, tmp_path):
    names = ",".join(run.name for run in ONE_NODE)
    evidence = tmp_path / "evidence.md"
    words = ("--quick", "--mpi", host.name, "--only", names, "--evidence", evidence)
    ended = oriel("paper", *words, "--output", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{len(ONE_NODE)}/{len(ONE_NODE)}" in ended.stderr
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<h3>") == len(ENTRIES)
    for run in ONE_NODE:
        record = json.loads((tmp_path / run.name / "run.json").read_text(encoding="utf-8"))
        assert record["problem"] == "" and record["command"] in page
    pictures = re.findall(r'<img src="([^"]+)"', page)
    assert {name.split("/")[0] for name in pictures} == {run.name for run in ONE_NODE}
    assert all((tmp_path / name).stat().st_size > 1000 for name in pictures)
    for entry in ENTRIES:
        if entry.run in (run.name for run in ONE_NODE):
            for pattern in entry.pictures:
                assert any(PurePath(name).match(f"{entry.run}/{pattern}") for name in pictures)
    rows = [line.split("|") for line in evidence.read_text(encoding="utf-8").splitlines()]
    numbers = [row[4].strip() for row in rows if len(row) == 8]
    parsed = [text for text in numbers if re.fullmatch(r"-?[\d.,]+(e[-+]\d+)?|never", text)]
    assert len(parsed) > 100


@pytest.mark.hosts("mpich")
def test_a_run_that_fails_does_not_end_the_others(host, tmp_path):
    """The program of one is not there."""
    (tmp_path / "bin").mkdir()
    words = ("--quick", "--mpi", host.name, "--only", "halo,cholesky", "--output", tmp_path)
    broken = tmp_path / "bin" / "oriel"
    broken.write_text('#!/bin/sh\n[ "$2" != halo ] || { echo "no halo" >&2; exit 4; }\nexit 0\n')
    broken.chmod(0o755)
    mpis = os.environ.get("ORIEL_MPI_ROOT", str(prefix() / "mpi"))
    ended = oriel("paper", *words, ORIEL_PREFIX=str(tmp_path), ORIEL_MPI_ROOT=mpis)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "halo: no halo" in ended.stdout and "cholesky: It wrote no results." in ended.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Not measured. no halo" in page


def test_an_unknown_run_is_a_sentence():
    ended = oriel("paper", "--only", "nosuch")
    assert ended.returncode == 2
    assert "list of patterns" in ended.stderr
