# SPDX-License-Identifier: BSD-3-Clause
"""Advice fits where Oriel lies: an installation has no `make`."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from oriel.hosts import advice

REPOSITORY = Path(__file__).resolve().parents[2]
SENTENCES = (advice.add_mpi, advice.build_for_mpi, advice.rebuild)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_make_is_for_a_source_tree(sentence, monkeypatch, tmp_path):
    assert "`make" in sentence()
    monkeypatch.setattr(advice, "_TREE", tmp_path)
    assert "make" not in sentence()


def test_packages(monkeypatch, tmp_path):
    """A package that pip has installed has extras; test_wheel.py looks at that."""
    assert "`make`" in advice.add_package("rich", "bench")
    monkeypatch.setattr(advice, "_TREE", tmp_path)
    assert advice.add_package("rich", "bench") == "Install it: `pip install rich`."


def imported(file: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return {module.partition(".")[0] for module in modules}


def test_every_package_of_the_command_is_in_an_extra():
    """Of jinja2 markupsafe is a part, of otf2 _otf2."""
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    head = "[project.optional-dependencies]\n"
    section = text[text.index(head) + len(head) :].partition("\n[")[0]
    listed = set(re.findall(r'"(\w+)"', section))
    folders = ("bench", "cli", "demo", "doctor", "hosts", "paper", "report", "wait_states")
    files = [
        file for name in folders for file in (REPOSITORY / "python/oriel" / name).rglob("*.py")
    ]
    needed = set[str]().union(*map(imported, files)) - sys.stdlib_module_names
    assert needed - {"oriel", "markupsafe", "_otf2"} == listed
