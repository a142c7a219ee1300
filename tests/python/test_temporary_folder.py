# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders of killed processes are removed by the next one; others stay."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from oriel.hosts.load_report import LoadReport
from oriel.hosts.temporary_folder import TemporaryFolder

HOLDER = """
import sys
from oriel.hosts.temporary_folder import TemporaryFolder

with TemporaryFolder("test") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def holder(temporary):
    """A process with such a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    folder = Path(process.stdout.readline().strip())
    assert folder.parent == temporary
    yield process, folder
    process.kill()
    process.communicate(timeout=60)


def test_it_is_gone_at_the_end(temporary):
    with TemporaryFolder("test") as folder:
        (folder / "file").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(temporary.iterdir())


def test_one_of_a_killed_process_is_removed(holder, temporary):
    process, folder = holder
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    assert folder.is_dir()
    with TemporaryFolder("test") as other:
        assert list(temporary.iterdir()) == [other]


def test_that_of_a_run_is_one(temporary):
    with LoadReport() as report:
        name = report.folder.name
    assert name.startswith("oriel-run-")
    assert not list(temporary.iterdir())


def test_one_of_a_living_process_stays(holder):
    process, folder = holder
    with TemporaryFolder("test"):
        assert (folder / "file").is_file()
    process.communicate("", timeout=60)
    assert not folder.exists()


def test_folders_of_others_stay(temporary):
    """Another kind, another machine's, a file, a link."""
    with TemporaryFolder("test") as folder:
        prefix = folder.name[:-8]
    assert prefix.startswith("oriel-test-") and prefix.endswith("-")
    elsewhere = temporary / "oriel-test-another-machine-12345678"
    kind = temporary / prefix.replace("test", "run", 1)
    for each in (elsewhere, kind, temporary / "target"):
        each.mkdir()
        (each / "file").touch()
    (temporary / f"{prefix}file").touch()
    (temporary / f"{prefix}link").symlink_to(temporary / "target")
    before = sorted(temporary.rglob("*"))
    with TemporaryFolder("test"):
        pass
    assert sorted(temporary.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")
def test_those_of_another_user_stay(holder, temporary):
    process, folder = holder
    process.kill()
    process.wait(timeout=60)
    os.chown(folder, 65534, -1)
    with TemporaryFolder("test"):
        assert (folder / "file").is_file()


@pytest.mark.parametrize("step", [(tempfile, "mkdtemp"), (fcntl, "flock")], ids=["made", "locked"])
def test_one_that_is_removed_when_it_has_just_been(temporary, monkeypatch, step):
    """Until it is locked it looks like one that is left."""
    carry_out = getattr(*step)
    removed = []

    def remove_the_first(*words, **named):
        done = carry_out(*words, **named)
        if not removed:
            removed.extend(temporary.iterdir())
            removed[0].rmdir()
        return done

    monkeypatch.setattr(*step, remove_the_first)
    with TemporaryFolder("test") as folder:
        assert folder.is_dir() and folder not in removed
    assert len(removed) == 1
