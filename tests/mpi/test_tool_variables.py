# SPDX-License-Identifier: BSD-3-Clause
"""MPI_T: Oriel's variables are offered next to the host's (B1)."""

from __future__ import annotations

import re

import pytest
from conftest import LIMIT_SECONDS, REPOSITORY, folder_of, oriel, output_of
from plan import NATIVE

SETTINGS = {"ORIEL_SPIN": "12", "ORIEL_OFI_PROVIDER": "tcp"}


@pytest.mark.hosts(*NATIVE, "mpich-abi")
def test_variables(job, host):
    job.expect_ok(host, "tool_variables", 2, SETTINGS)


@pytest.mark.hosts("mpich")
def test_variables_of_a_run_that_counts(host):
    """`oriel run --info` and the handles read the same counts, and an event counts once."""
    program = folder_of(host) / "tool_variables"
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program)
    assert ended.returncode == 0 and "counts of 2 processes" in ended.stderr, ended.stderr


@pytest.mark.hosts("mpich")
def test_handles_outlive_engines(job, host):
    """An engine ends with the last session, and a handle keeps what it has counted. Open MPI 5.0
    fails in its second session if MPI_T has been started, without Oriel too."""
    command = [folder_of(host) / "tool_variables", "sessions"]
    status, output = job.run_command(host, command, 2)
    assert status == 0 and output.count("ok: ") == 2, output[-4000:]


@pytest.mark.hosts("mpich")
def test_a_tool_that_comes_late_has_no_thread_of_its_own(job, host):
    """Calls of the program may run without the process lock by then."""
    command = [folder_of(host) / "tool_variables", "late"]
    status, output = job.run_command(host, command, 1)
    assert status == 0 and "ok: " in output, output[-4000:]


def listed(host, oriel: bool = True, env: dict[str, str] | None = None) -> list[list[str]]:
    """Kind, index and name of each variable that a tool finds before MPI is started."""
    command = [folder_of(host) / "tool_variables", "list"]
    argv, environ = host.command(1, command, oriel, env)
    return [line.split() for line in output_of(argv, environ, LIMIT_SECONDS).splitlines()]


def is_ours(name: str) -> bool:
    return name.lower().startswith("oriel")


@pytest.mark.hosts(*NATIVE, "mpich-abi")
def test_a_tool_lists_the_hosts_variables_and_ours(host):
    alone, both = listed(host, oriel=False), listed(host)
    assert not any(is_ours(name) for _, _, name in alone)
    assert [line for line in both if not is_ours(line[2])] == alone
    for kind in ("cvar", "pvar", "category"):
        names = [name for each, _, name in both if each == kind]
        ours = [name for name in names if is_ours(name)]
        assert ours and names[-len(ours) :] == ours


@pytest.mark.hosts("mpich")
def test_a_disabled_library_has_no_variables(host):
    assert not any(is_ours(name) for _, _, name in listed(host, env={"ORIEL_DISABLE": "1"}))


@pytest.mark.hosts("mpich")
def test_the_documentation_has_each_performance_variable(host):
    names = [name for kind, _, name in listed(host) if kind == "pvar" and is_ours(name)]
    page = REPOSITORY / "docs" / "reference" / "tool_variables.md"
    rows = re.findall(r"^\| `(oriel_[a-z_]+)([A-Z]*)`", page.read_text(encoding="utf-8"), re.M)
    patterns = [re.compile(name + ("[a-z_]+" if varies else "")) for name, varies in rows]
    for name in names:
        assert len([each for each in patterns if each.fullmatch(name)]) == 1, name
    for each in patterns:
        assert any(each.fullmatch(name) for name in names), each.pattern
