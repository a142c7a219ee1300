# SPDX-License-Identifier: BSD-3-Clause
"""An installation works wherever it lies and however its command is called, or says why not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, SAME, folder_of, output_of
from oriel.hosts.host import prefix

LIMIT_SECONDS = 120


def install(place: Path) -> Path:
    """Installs what has been built, and returns the command."""
    cache = (prefix() / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    cmake = next(line for line in cache if line.startswith("CMAKE_COMMAND:")).partition("=")[2]
    words = [cmake, "--install", prefix(), "--prefix", place]
    output_of(words, {**os.environ}, LIMIT_SECONDS)
    return place / "bin" / "oriel"


def call(command: Path, *words, **settings) -> subprocess.CompletedProcess:
    """The installed command, which has to find its own package."""
    environment = {**os.environ, "ORIEL_MPI_ROOT": str(prefix() / "mpi"), **SAME, **settings}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [command, *(str(word) for word in words)],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@pytest.mark.hosts("mpich")
def test_a_symlink_to_the_command(host, tmp_path):
    installed = install(tmp_path / "oriel")
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "oriel"
    link.symlink_to("../oriel/bin/oriel")
    again = tmp_path / "again"
    again.symlink_to(link)
    for command in (installed, link, again, REPOSITORY / "build" / "bin" / "oriel"):
        ended = call(command, "env", "--mpi", host.name)
        assert ended.returncode == 0, ended.stderr
        library = ended.stdout.splitlines()[0].removeprefix("LD_PRELOAD=")
        assert Path(library).is_file()
        assert (tmp_path in Path(library).parents) == (REPOSITORY not in command.parents)


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("name", ["a folder", "a:folder"])
def test_a_prefix_that_cannot_be_preloaded(host, name, tmp_path):
    """The loader separates the entries of LD_PRELOAD by spaces and colons, and has no quotes."""
    command = install(tmp_path / name)
    started = tmp_path / "started"
    for words in (
        ("run", "-n", 2, "--mpi", host.name, "touch", started),
        ("env", "--mpi", host.name),
    ):
        ended = call(command, *words)
        assert ended.returncode == 1, ended.stdout + ended.stderr
        assert not ended.stdout, "a shell would evaluate it"
        assert f"{name}/lib/liboriel_mpich.so cannot be preloaded" in ended.stderr
        assert "ORIEL_PREFIX" in ended.stderr
    assert not started.exists()
    # Without Oriel, and by the symbolic link that the sentence speaks of.
    ended = call(command, "run", "-n", 2, "--mpi", host.name, "--no-oriel", "echo", "here")
    assert ended.stdout.count("here") == 2, ended.stderr
    link = tmp_path / "link"
    link.symlink_to(tmp_path / name)
    fence = folder_of(host) / "fence"
    ended = call(command, "run", "-n", 2, "--info", fence, ORIEL_PREFIX=str(link))
    assert ended.returncode == 0 and "mapped" in ended.stdout + ended.stderr, ended.stderr
    ended = call(command, "info", "--mpi", host.name, ORIEL_PREFIX=str(link))
    assert "MPI_Win_allocate, from every rank: ranks 0 to 1 mapped" in ended.stdout, ended.stdout


def test_what_env_prints_survives_a_shell(host, tmp_path):
    """`env $(oriel env)` separates words by blanks, whatever they come from."""
    command = REPOSITORY / "build" / "bin" / "oriel"
    ended = call(command, "env", "--mpi", host.name, LD_LIBRARY_PATH=str(tmp_path / "a folder"))
    assert ended.returncode == 1, ended.stdout
    assert not ended.stdout
    assert "LD_LIBRARY_PATH" in ended.stderr and "a folder" in ended.stderr
