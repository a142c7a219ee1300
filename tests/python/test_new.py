# SPDX-License-Identifier: BSD-3-Clause
"""`oriel new` writes what it says or nothing. tests/mpi/test_install.py and test_wheel.py build and
run the projects."""

from __future__ import annotations

import functools
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def new(folder: Path, *words: str, before=None, **variables) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-S", "-m", "oriel", "new", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=before,
    )


def refusal(folder: Path, *words: str, before=None) -> str:
    """The sentence, behind the command's name; nothing else is printed, and nothing is written."""
    there = sorted(folder.rglob("*"))
    ended = new(folder, *words, before=before)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert sorted(folder.rglob("*")) == there
    name, _, sentence = ended.stderr.partition(": ")
    assert name == "oriel new"
    return sentence


@pytest.mark.parametrize(
    ("kind", "files", "last"),
    [
        ("cmake", {"CMakeLists.txt", "my-ring.c"}, "oriel run -n 4 build/my-ring"),
        ("make", {"Makefile", "my-ring.c"}, "oriel run -n 4 ./my-ring"),
        ("python", {"my-ring.py"}, "oriel run -n 4 python3 my-ring.py"),
    ],
)
def test_files_and_commands(kind, files, last, tmp_path):
    (tmp_path / "a folder").mkdir()
    ended = new(tmp_path, "a folder/my-ring", "--with", kind)
    assert (ended.returncode, ended.stderr) == (0, "")
    written = tmp_path / "a folder" / "my-ring"
    assert {each.name for each in written.iterdir()} == files
    for each in written.iterdir():
        assert "@NAME@" not in each.read_text(encoding="utf-8")
    first, *_, end = ended.stdout.splitlines()
    assert first == "cd 'a folder/my-ring'" and end.endswith(last)


def test_where_oriel_is(tmp_path):
    """Beside the command, or PREFIX: a build tree has no CMake package."""
    assert "-DCMAKE_PREFIX_PATH=PREFIX\n" in new(tmp_path, "one").stdout
    (tmp_path / "in stalled" / "lib64" / "pkgconfig").mkdir(parents=True)
    (tmp_path / "in stalled" / "lib64" / "pkgconfig" / "oriel-mpich.pc").touch()
    there = str(tmp_path / "in stalled")
    assert f"PATH='{there}'\n" in new(tmp_path, "two", ORIEL_PREFIX=there).stdout
    made = new(tmp_path, "three", "--with", "make", ORIEL_PREFIX=there).stdout
    assert f"PKG_CONFIG_PATH='{there}/lib64/pkgconfig' make\n" in made


@pytest.mark.parametrize("name", ["1st", "a b", "a.b", "-", "..", "", "µ"])
def test_a_name_that_is_none(name, tmp_path):
    assert "cannot be the name of a project: a name begins" in refusal(tmp_path, name)


def test_a_name_that_is_taken(tmp_path):
    for kind, names in {
        "cmake": ("clean", "edit_cache", "package_source", "Makefile", "CMakeFiles"),
        "make": ("rebuild_cache", "Makefile", "GNUmakefile"),
    }.items():
        for name in names:
            sentence = refusal(tmp_path, name, "--with", kind)
            assert "a target, a file or a package of this name" in sentence, name
    for name in ("oriel", "array"):
        assert "a module of this name" in refusal(tmp_path, name, "--with", "python")
    assert new(tmp_path, "array", "--with", "make").returncode == 0
    assert new(tmp_path, "Makefile", "--with", "python").returncode == 0


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("folder", "file", "link"):
        assert refusal(tmp_path, name).startswith(f"{name} is there already")


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for name, why in (
        ("none/ring", "No such file"),
        ("file/ring", "Not a directory"),
        ("r" * 300, "too long"),
    ):
        sentence = refusal(tmp_path, name)
        assert f"{name} cannot be written (" in sentence and why in sentence


def test_a_place_without_space(tmp_path):
    """What was begun is removed."""
    limit = (0, resource.RLIM_INFINITY)
    no_files = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, limit)
    assert "(File too large)" in refusal(tmp_path, "ring", before=no_files)
