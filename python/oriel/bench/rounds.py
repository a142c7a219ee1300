# SPDX-License-Identifier: BSD-3-Clause
"""How the benchmarks start their programs: on each host, alone and with Oriel, in rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.hosts import job
from oriel.hosts.host import Host, HostError, choose_hosts, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.console import progress_bar

# Open MPI's windows over UCX would give up every time one is made here, with a message that takes
# longer than all the rest; its next choice is made at once.
WITHOUT_UCX = {"OMPI_MCA_osc": "^ucx"}


def compared(names: str, program: str) -> list[Host]:
    """The hosts of these names; the program and Oriel's library are there for each of them."""
    hosts = choose_hosts(names)
    for host in hosts:
        own_program(host, program)
    without = [host.name for host in hosts if not host.library.is_file()]
    if without:
        raise HostError(
            f"Oriel's library for {', '.join(without)} is not built. Build it with `make`."
        )
    return hosts


def play(
    hosts: list[Host],
    rounds: int,
    ranks: int,
    program: Callable[[Host, str], Sequence[str]],
    read: Callable[[str, str, str], int],
    timeout_s: float,
    nodes: Nodes | None = None,
    variables: Mapping[str, str] | None = None,
) -> list[str]:
    """Starts a program in every round on each host alone and with Oriel. `program` says with which
    words it is started on a host one way; `read` takes host, way and what was printed, and returns
    how many results there were; `variables` are set for the ranks. Returns what failed, as
    sentences.

    The ways alternate, and so do the hosts, so that what disturbs the machine for a while disturbs
    all; every second time ours comes first."""
    failures: dict[tuple[str, str], str] = {}
    with progress_bar() as bar:
        task = bar.add_task("", total=rounds * len(hosts) * len(WAYS))
        for number in range(rounds):
            for host in hosts:
                for way in WAYS if number % 2 == 0 else reversed(WAYS):
                    what = f"{host.title}, {'alone' if way == HOST else 'with Oriel'}"
                    bar.update(task, description=what)
                    if (host.name, way) not in failures:
                        argv, environment = host.command(
                            ranks, program(host, way), way == ORIEL, variables, nodes
                        )
                        output, failure = job.run(argv, environment, timeout_s)
                        if not failure and read(host.name, way, output) == 0:
                            failure = "it printed no results"
                        if failure:
                            failures[host.name, way] = (
                                f"{what}, {ranks} ranks: the run failed, {failure}."
                            )
                    bar.advance(task)
        bar.update(task, description="measured")
    return list(failures.values())
