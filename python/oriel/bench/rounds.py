# SPDX-License-Identifier: BSD-3-Clause
"""How the benchmarks start their programs: on each host, alone and with Oriel, in rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from oriel.bench.ways import HOST, ORIEL
from oriel.hosts import job
from oriel.hosts.host import Host, choose_hosts, own_program
from oriel.hosts.nodes import Nodes
from oriel.report.console import progress_bar

# For Open MPI alone: its windows over UCX would give up every time one is made here, with a message
# that takes longer than all the rest; its next choice is made at once.
WITHOUT_UCX = {"OMPI_MCA_osc": "^ucx"}


@dataclass(frozen=True)
class Form:
    """How a program is started one way: `settings` gives variables for its ranks, and lasts as long
    as its run."""

    title: str  # behind the host's, in a sentence
    preload: bool = True
    settings: Callable[[], AbstractContextManager[Mapping[str, str]]] = lambda: nullcontext({})


FORMS = {HOST: Form("alone", preload=False), ORIEL: Form("with Oriel")}


def compared(names: str, program: str) -> list[Host]:
    """The hosts of these names; the program and Oriel's library are there for each of them."""
    hosts = choose_hosts(names)
    for host in hosts:
        own_program(host, program)
        host.preloadable()
    return hosts


@dataclass(frozen=True)
class Run:
    """One start of a program."""

    what: str  # in a sentence; once a run of a host has failed, those of its name are left out
    host: Host
    ranks: int
    words: Sequence[str]
    form: Form
    read: Callable[[str], int]  # takes what was printed, returns how many results there were
    timeout_s: float


def carry_out(
    runs: Sequence[Run],
    nodes: Nodes | None = None,
    variables: Mapping[str, str] | None = None,
) -> list[str]:
    """Starts one after the other, with these variables for the ranks. Returns what failed, as
    sentences."""
    failures: dict[tuple[str, str], str] = {}
    with progress_bar() as bar:
        task = bar.add_task("", total=len(runs))
        for run in runs:
            bar.update(task, description=run.what)
            key = (run.host.name, run.what)
            if key not in failures:
                with run.form.settings() as own:
                    for_ranks = {**(variables or {}), **own}
                    argv, environment = run.host.command(
                        run.ranks, run.words, run.form.preload, for_ranks, nodes
                    )
                    output, failure = job.run(argv, environment, run.timeout_s)
                if not failure and run.read(output) == 0:
                    failure = "it printed no results"
                if failure:
                    failures[key] = f"{run.what}: the run failed, {failure}."
            bar.advance(task)
        bar.update(task, description="measured")
    return list(failures.values())


def play(
    hosts: list[Host],
    rounds: int,
    ranks: int,
    program: Callable[[Host, str], Sequence[str]],
    read: Callable[[str, str, str], int],
    timeout_s: float,
    nodes: Nodes | None = None,
    variables: Mapping[str, str] | None = None,
    forms: Mapping[str, Form] = FORMS,
) -> list[str]:
    """Starts a program in every round on each host in each of the forms, which are named by the
    ways. `program` says with which words it is started on a host one way; `read` takes host, way
    and what was printed, and returns how many results there were; `variables` are set for the
    ranks. Returns what failed, as sentences.

    The ways alternate, and so do the hosts, so that what disturbs the machine for a while disturbs
    all; every second time the last one comes first."""
    runs = [
        Run(
            f"{host.title}, {forms[way].title}, {ranks} ranks",
            host,
            ranks,
            program(host, way),
            forms[way],
            partial(read, host.name, way),
            timeout_s,
        )
        for number in range(rounds)
        for host in hosts
        for way in (forms if number % 2 == 0 else reversed(forms))
    ]
    return carry_out(runs, nodes, variables)
