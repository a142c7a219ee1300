# SPDX-License-Identifier: BSD-3-Clause
"""G2: created windows whose memory is moved into shared memory, ORIEL_ADOPT. What a program sees of
its windows and its memory is the same; only how peers reach it differs."""

from __future__ import annotations

import re

import pytest
from conftest import folder_of
from plan import LIBRARIES, NATIVE

ADOPT = {"ORIEL_ADOPT": "always"}
# Programs' short windows have whole pages then.
PAGES = {"ORIEL_TEST_PAGES": "1"}
# These check how long their windows are, or that they are not mapped.
KNOW_THEIR_WINDOWS = ("atomics", "intrinsic", "notified", "window_kinds")
# What reaches created windows in ways of its own, and what lives beside them.
PROGRAMS = (
    "atomics",
    "datatypes",
    "fence",
    "forked",
    "intrinsic",
    "lifetimes",
    "memhandles",
    "notified",
    "operations",
    "passive",
    "reductions",
    "stress",
    "threads",
    "whole_calls",
    "window_kinds",
)


@pytest.mark.hosts(*LIBRARIES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(job, host, program):
    pages = {} if program in KNOW_THEIR_WINDOWS else PAGES
    job.expect_ok(host, program, 2, {**ADOPT, **pages})


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("ranks", [2, 4])
def test_random_programs_where_it_pays(job, host, ranks):
    job.expect_ok(host, "stress", ranks, {"ORIEL_ADOPT": "auto", **PAGES})


@pytest.mark.hosts("mpich")
def test_a_setting_that_means_nothing_is_told(job, host):
    status, output = job.run_command(
        host, [folder_of(host) / "adopted"], 2, {"ORIEL_ADOPT": "sometimes"}
    )
    assert status != 0
    assert 'ORIEL_ADOPT is "sometimes"; set it to never, auto or always' in output


@pytest.mark.hosts(*NATIVE)
@pytest.mark.parametrize("ranks", [2, 3])
def test_memory_is_as_before(job, host, ranks):
    job.expect_ok(host, "adopted", ranks, ADOPT)


@pytest.mark.hosts(*NATIVE)
def test_memory_is_as_before_on_two_nodes(job, host, three_nodes):
    """MPI libraries load more of others there: Intel MPI loads UCX, which replaces mremap. Without
    the test of growth: Intel MPI's processes grow by more than it permits in one run of seven."""
    command = [folder_of(host) / "adopted", "every word", "fork as before", "overlapping"]
    status, output = job.run_command(host, command, 4, ADOPT, three_nodes.first(2))
    assert status == 0 and "ok: 3 tests" in output, output[-3000:]


@pytest.mark.hosts(*LIBRARIES)
def test_by_default_and_without_oriel(job, host):
    job.expect_ok(host, "adopted", 2)
    job.expect_ok(host, "adopted", 2, {"ORIEL_TEST_HOST_ONLY": "1"})


@pytest.mark.hosts("mpich")
def test_peers_are_messages(job, host):
    """Where no copy is permitted the ends are served by messages, and so is the rest."""
    job.expect_ok(host, "adopted", 2, {**ADOPT, "ORIEL_VM": "0"})


@pytest.mark.hosts(*LIBRARIES)
def test_it_is_mapped_and_said(job, host):
    """Or it is said why not: the system may keep userfaultfd for itself."""
    settings = {**ADOPT, "ORIEL_INFO": "1"}
    status, output = job.run_command(
        host, [folder_of(host) / "adopted", "every word", "shared query"], 2, settings
    )
    if "userfaultfd" in output:
        pytest.skip("this system does not permit userfaultfd, and the MPI library has threads")
    assert status == 0 and "ok: 2 tests" in output, output[-3000:]
    paths = re.findall(r"made by MPI_Win_create, 2 ranks: (.*)", output)
    assert paths[0] == "ranks 0 to 1 mapped" or "mapped (but" in paths[1], paths
