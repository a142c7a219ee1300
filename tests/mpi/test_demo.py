# SPDX-License-Identifier: BSD-3-Clause
"""`oriel demo` runs tiny, so that the main job cannot rot (E13). The programs check every byte that
they move; no time is checked here."""

from __future__ import annotations

import json

import pytest
from conftest import oriel

FIGURES = 10


@pytest.mark.hosts("mpich")
def test_all_patterns_on_one_host(host, tmp_path):
    ended = oriel("demo", "--quick", "--mpi", host.name, "--output", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "The five inefficiency patterns" in ended.stdout
    assert "The four reorder flags" in ended.stdout
    for kind in ("png", "svg"):
        figures = list((tmp_path / host.name).glob(f"figure-*.{kind}"))
        assert len(figures) == FIGURES
        assert all(figure.stat().st_size > 1000 for figure in figures)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<img") >= FIGURES
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["machine"]["cores"] >= 1
    assert results["hosts"]


@pytest.mark.hosts("openmpi", "intel")
def test_one_pattern_on_the_others(host, tmp_path):
    ended = oriel(
        "demo", "--quick", "--mpi", host.name, "--pattern", "early_fence", "--output", tmp_path
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Early Fence" in ended.stdout
