# SPDX-License-Identifier: BSD-3-Clause
"""Arrows between the folders of python/oriel run one way."""

from __future__ import annotations

import ast
import collections
from pathlib import Path

from oriel.bench.subjects import MODULES, SUBJECTS

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "oriel"

# What each folder may import beside itself; "" is the package's own folder.
MAY_IMPORT = {
    "hosts": set(),
    "report": set(),
    "doctor": {"", "hosts", "report"},
    "bench": {"hosts", "report", "wait_states"},
    "demo": {"bench", "hosts", "report"},
    "paper": {"bench", "demo", "hosts", "report"},
    "wait_states": {""},
    "top": {"wait_states"},
    "cli": {"", "bench", "demo", "doctor", "hosts", "paper", "report", "top", "wait_states"},
    "rma": set(),
    "templates": set(),  # programs of users, which import oriel itself
    "": {"cli", "rma"},
}


def sources() -> list[Path]:
    return [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]


def folder(path: Path) -> str:
    return path.parts[0] if len(path.parts) > 1 else ""


def modules_of(path: Path) -> list[str]:
    """The names that a file imports, by `import`, `from` or a module's name in a string."""
    modules = []
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively, which this test does not follow"
            modules += [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            modules.append(node.value)
    return [module for module in modules if module.startswith("oriel.")]


def imported(path: Path) -> set[str]:
    """The folders that a file imports from."""
    parts = [module.split(".") for module in modules_of(path)]
    return {second if (PACKAGE / second).is_dir() else "" for _, second, *_ in parts}


def test_every_folder_has_a_place():
    assert {folder(path) for path in sources()} == set(MAY_IMPORT)


def test_arrows_run_one_way():
    wrong = [
        f"{path} imports from {other or 'oriel'}"
        for path in sources()
        for other in sorted(imported(path) - {folder(path)} - MAY_IMPORT[folder(path)])
    ]
    assert not wrong, "\n".join(wrong)


def test_what_benchmarks_share_knows_none_of_them():
    """The modules of a benchmark begin with its name. subjects.py alone knows which there are."""
    names = {path.stem for path in (PACKAGE / "bench").glob("*.py")}
    prefixes = {*SUBJECTS, *MODULES.values(), "measured"}
    subjects = {name for name in names if name.partition("_")[0] in prefixes}
    shared = names - subjects - {"bench", "subjects"}
    assert len(subjects) >= len(SUBJECTS) and {"rounds", "requests"} <= shared
    wrong = [
        f"{name}.py imports {module}"
        for name in sorted(shared)
        for module in modules_of(Path("bench", f"{name}.py"))
        if module.startswith("oriel.bench.") and module.split(".")[2] in subjects
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_are_seen():
    """Of each form there is one, so that the test above cannot pass by seeing nothing."""
    assert imported(Path("bench", "bench.py")) == {"bench", "hosts", "report"}
    assert imported(Path("cli", "commands.py")) == {
        "",
        "bench",
        "cli",
        "demo",
        "hosts",
        "paper",
        "top",
        "wait_states",
    }


def test_no_two_files_share_a_name():
    names = collections.Counter(path.name for path in sources() if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]
