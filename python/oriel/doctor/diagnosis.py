# SPDX-License-Identifier: BSD-3-Clause
"""All that is examined, in the order in which it is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from oriel.doctor import installations, permissions, resource_limits, shared_memory, xpmem
from oriel.doctor.finding import Finding, State
from oriel.doctor.self_test import SelfTest, ShowStep
from oriel.hosts.host import (
    Host,
    find_host,
    find_hosts,
    find_shadowed,
    find_unknown,
    find_unsupported,
)
from oriel.hosts.nodes import Nodes, NodesError, why_not


def examine_machine() -> list[Finding]:
    return [
        *permissions.examine(),
        *xpmem.examine(),
        *shared_memory.examine(),
        *resource_limits.examine(),
    ]


@contextlib.contextmanager
def _two_nodes() -> Iterator[tuple[Nodes | None, str]]:
    """Nodes, or why there are none."""
    with contextlib.ExitStack() as stack:
        nodes, reason = None, why_not()
        if not reason:
            try:
                nodes = stack.enter_context(Nodes(2))
            except NodesError as error:
                reason = str(error)
        yield nodes, reason


def _without_repetition(findings: Sequence[Finding]) -> list[Finding]:
    """Without libfabric where all is well: "between nodes" names the same library and provider."""
    fine = {
        finding.about
        for finding in findings
        if (finding.subject, finding.state) == ("between nodes", State.OK)
    }
    return [
        finding
        for finding in findings
        if (finding.subject, finding.state) != ("libfabric", State.OK) or finding.about not in fine
    ]


def _by_host(findings: Sequence[Finding]) -> list[Finding]:
    """Those about one MPI together, each in the order in which it was found."""
    order = list(dict.fromkeys(finding.about for finding in findings))
    return sorted(findings, key=lambda finding: order.index(finding.about))


def examine_hosts(name: str | None, launcher: str | None, show_step: ShowStep) -> list[Finding]:
    """Of every MPI found, or the one of this name. `launcher`: None chooses one."""
    hosts: list[Host]
    if name:
        hosts, findings = [find_host(name)], []
    else:
        hosts = [*find_hosts(), *find_shadowed()]
        findings = [installations.examine_unsupported(host) for host in find_unsupported()]
        findings += [installations.examine_unknown(launcher) for launcher in find_unknown()]
    if not hosts:
        return [installations.examine_none(), *findings]
    examined: list[Finding] = []
    for host in hosts:
        show_step(f"{host.title}, libraries")
        examined += installations.examine_host(host)
    with _two_nodes() as (nodes, reason):
        examined += SelfTest(show_step, launcher).run(hosts, nodes, reason)
    return _by_host(_without_repetition(examined)) + findings
