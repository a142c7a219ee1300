# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel` as a user calls it: what it finds out by itself, and that its errors are
sentences which say what to do (G1, G7)."""

from __future__ import annotations

import re

import pytest
from conftest import folder_of, oriel


def test_run_finds_the_mpi_of_the_program(job, host):
    if job.host_alone:
        pytest.skip("oriel run starts with Oriel")
    program = folder_of(host) / "fence"
    # MPICH and Intel MPI share a soname; both are named where that is all there is to go by.
    named = [] if host.name in ("mpich", "openmpi", "mpich-abi") else ["--mpi", host.name]
    ended = oriel("run", "-n", 2, "--info", *named, program)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout
    assert "mapped" in ended.stdout + ended.stderr, "ORIEL_INFO tells the path of each peer"


def test_info_tells_of_memory_served_by_messages(job, host):
    if job.host_alone:
        pytest.skip("ORIEL_VM is a setting of Oriel")
    program = folder_of(host) / "window_kinds"
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program, ORIEL_VM="0")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "by messages" in ended.stdout + ended.stderr


def test_run_without_oriel(job, host):
    if job.host_alone:
        pytest.skip("checked with the rest")
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--no-oriel", "--info", "/bin/echo", "here")
    assert ended.stdout.count("here") == 2, ended.stdout + ended.stderr


def test_env_names_the_library(job, host):
    if job.host_alone:
        pytest.skip("checked with the rest")
    ended = oriel("env", "--mpi", host.name)
    assert ended.stdout.strip() == f"LD_PRELOAD={host.library}"


def test_info_lists_hosts_and_settings():
    ended = oriel("info")
    assert ended.returncode == 0, ended.stderr
    for word in ("oriel 0.1.0", "MPIs", "ORIEL_VM", "ORIEL_SPIN", "default"):
        assert word in ended.stdout


def test_info_tells_the_way_between_ranks(job, host):
    if job.host_alone or host.name.endswith("-abi"):
        pytest.skip("the way between ranks depends neither on the host alone nor on its ABI")
    ended = oriel("info", "--mpi", host.name)
    assert ended.returncode == 0, ended.stderr
    assert re.search("between nodes: .+ of libfabric [0-9.]+ [(]/", ended.stdout), ended.stdout
    assert "MPI_Win_allocate, from every rank: ranks 0 to 1 mapped\n" in ended.stdout


def test_info_tells_the_way_between_nodes(job, host, three_nodes):
    if job.host_alone or host.name.endswith("-abi"):
        pytest.skip("the way between nodes depends neither on the host alone nor on its ABI")
    ended = oriel("info", "--mpi", host.name, "--hosts", 2, "-n", 4)
    assert ended.returncode == 0, ended.stderr
    told = re.search("MPI_Win_allocate, from rank 3 [(]node1[)]: (.*)", ended.stdout)
    assert told, ended.stdout
    assert re.fullmatch("ranks 0 to 1 over [a-z;_]+, ranks 2 to 3 mapped", told.group(1))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["walk"], "There is no command walk."),
        (["run", "-n", "2", "./no-such-program"], "neither an executable file nor on PATH"),
        (["run", "-n", "0", "/bin/true"], "at least 1"),
        (["run", "-n", "2", "/bin/true"], "is linked with no MPI"),
        (["run", "-n", "2", "--mpi", "lam", "/bin/true"], "There is no MPI named lam here"),
        (["env", "--mpi", "lam"], "There is no MPI named lam here"),
        (["demo", "--mpi", "lam"], "There is no MPI named lam here"),
        (["demo", "--iterations", "0"], "takes a number above 0"),
    ],
)
def test_errors_are_sentences(words, sentence):
    ended = oriel(*words)
    assert ended.returncode not in (0, None)
    assert sentence in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
