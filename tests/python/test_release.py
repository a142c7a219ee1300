# SPDX-License-Identifier: BSD-3-Clause
"""scripts/release, in a clone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


RECIPE = "packaging/spack/spack_repo/oriel/packages/oriel/package.py"
FILES = (
    "scripts/release",
    "python/oriel/__init__.py",
    "include/oriel/oriel.h",
    "CHANGELOG.md",
    RECIPE,
)


def versions(folder: Path) -> tuple[str, str, str]:
    """In Python, in the header and in Spack's recipe."""
    header = (folder / "include/oriel/oriel.h").read_text(encoding="utf-8")
    numbers = re.findall(r"^#define ORIEL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
    package = (folder / "python/oriel/__init__.py").read_text(encoding="utf-8")
    (python,) = re.findall(r'^__version__ = "(.*)"$', package, re.M)
    recipe = (folder / RECIPE).read_text(encoding="utf-8")
    (spack,) = re.findall(r'^    version\("([0-9.]+)"\)$', recipe, re.M)
    return python, ".".join(numbers), spack


def test_one_version():
    assert len({*versions(REPOSITORY)}) == 1


@pytest.fixture
def clone(tmp_path) -> Path:
    folder = tmp_path / "clone"
    for path in FILES:
        copy = folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((REPOSITORY / path).read_bytes())
    (folder / "scripts/release").chmod(0o755)
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "somebody@localhost")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def release(folder: Path, *words: str) -> subprocess.CompletedProcess:
    command = [folder / "scripts" / "release", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_release(clone):
    ended = release(clone, "7.8.9")
    assert ended.returncode == 0, ended.stderr
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "describe") == "v7.8.9\n"
    assert versions(clone) == ("7.8.9",) * 3
    changes = (clone / "CHANGELOG.md").read_text()
    assert changes.index("## Unreleased\n") < changes.index("\n## 7.8.9, 20")
    assert "there already" in release(clone, "7.8.9").stderr


def test_the_present_version_is_released_once(clone):
    present, *_ = versions(clone)
    assert release(clone, present).returncode == 0
    git(clone, "tag", "--delete", f"v{present}")
    changes = clone / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace("## Unreleased\n", "## Unreleased\n\n- New.\n"))
    git(clone, "commit", "--quiet", "--all", "-m", "change")
    assert "has been released" in release(clone, present).stderr


def test_no_way_back(clone):
    ended = release(clone, "0.1.9")
    assert ended.returncode == 1 and "0.1.9 is lower than the present version" in ended.stderr


def test_nothing_has_changed(clone):
    release(clone, "7.8.9")
    ended = release(clone, "7.9.0")
    assert ended.returncode == 1 and "Unreleased of CHANGELOG.md is empty" in ended.stderr


@pytest.mark.parametrize("version", ["", "7.8", "v7.8.9", "7.08.9"])
def test_no_version(clone, version):
    ended = release(clone, version)
    assert ended.returncode == 1 and "give a version" in ended.stderr
    assert git(clone, "status", "--porcelain") == ""


def test_with_changes(clone):
    (clone / "CHANGELOG.md").write_text("changed")
    ended = release(clone, "7.8.9")
    assert ended.returncode == 1 and "not committed" in ended.stderr
