# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks have in common: their hosts, how their programs are started, and where."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from oriel import job
from oriel.hosts_mpi import Host, HostError, find_host, find_hosts, own_program
from oriel.nodes import CONGESTION_CONTROL, Nodes
from oriel.timings import HOST, ORIEL, WAYS

NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


positive.__name__ = "whole number above 0"  # what argparse says was expected


def find(names: str) -> list[Host]:
    """The hosts of these names, which commas part; all that are there for `all`."""
    if names != "all":
        return [find_host(name) for name in names.split(",")]
    found = find_hosts()
    if not found:
        raise HostError("There is no MPI on this machine. Install three with `make mpis`.")
    return found


def compared(names: str, program: str) -> list[Host]:
    """The same, and the program and Oriel's library are there for each of them."""
    hosts = find(names)
    for host in hosts:
        own_program(host, program)
    without = [host.name for host in hosts if not host.library.is_file()]
    if without:
        raise HostError(
            f"Oriel's library for {', '.join(without)} is not built. Build it with `make`."
        )
    return hosts


def version(host: Host) -> str:
    return f"{NAMES.get(host.name, host.name)} {host.version}"


def place(where: dict, versions: dict[str, str], nodes: int = 1) -> str:
    """The machine and the MPIs, for the end of a table and the foot of a figure."""
    tcp = f"TCP with {CONGESTION_CONTROL}"
    spread = f"{nodes} nodes made of network namespaces ({tcp}); " if nodes > 1 else ""
    return spread + (
        f"{where['processor']}, {where['cores']} cores, kernel {where['kernel']}, "
        f"load {where['load']} at the start; {', '.join(versions.values())}"
    )


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


def play(
    hosts: list[Host],
    rounds: int,
    ranks: int,
    program: Callable[[Host, str], Sequence[str]],
    read: Callable[[str, str, str], int],
    timeout_s: float,
    nodes: Nodes | None = None,
) -> list[str]:
    """Starts a program in every round on each host alone and with Oriel. `program` says with which
    words it is started on a host one way; `read` takes host, way and what was printed, and returns
    how many results there were. Returns what failed, as sentences.

    The ways alternate, and so do the hosts, so that what disturbs the machine for a while disturbs
    all; every second time ours comes first."""
    failures: dict[tuple[str, str], str] = {}
    with progress() as bar:
        task = bar.add_task("", total=rounds * len(hosts) * len(WAYS))
        for number in range(rounds):
            for host in hosts:
                for way in WAYS if number % 2 == 0 else reversed(WAYS):
                    what = f"{version(host)}, {'alone' if way == HOST else 'with Oriel'}"
                    bar.update(task, description=what)
                    if (host.name, way) not in failures:
                        argv, environment = host.command(
                            ranks, program(host, way), preload=way == ORIEL, nodes=nodes
                        )
                        output, failure = job.run(argv, environment, timeout_s)
                        if not failure and read(host.name, way, output) == 0:
                            failure = "it printed no results"
                        if failure:
                            failures[host.name, way] = f"{what}: the run failed, {failure}."
                    bar.advance(task)
        bar.update(task, description="measured")
    return list(failures.values())


def report(
    console: Console,
    notes: Sequence[str],
    failures: Sequence[str],
    where: str,
    results: dict,
    path: Path,
    draw: Callable[[str, Path], None],
) -> int:
    """What comes after the tables: notes, failures and the machine; then, if no run failed, the
    results as JSON and the figure `path`, which `draw` makes. Returns the exit status."""
    for sentence in [*notes, *failures]:
        console.print(f"- {sentence}", highlight=False, markup=False)
    console.print(where, highlight=False)
    if failures:
        console.print("Nothing was written, because a run failed.", highlight=False)
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    draw(where, path)
    console.print(f"Figure and results: {path}", highlight=False)
    return 0
