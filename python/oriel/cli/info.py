# SPDX-License-Identifier: BSD-3-Clause
"""`oriel info`: version, MPIs found, Oriel's libraries, the way between ranks, what persistent
exchanges take, and the table of settings."""

from __future__ import annotations

import argparse
import json
import subprocess
import textwrap

from oriel import __version__
from oriel.bench.alltoallv import measured
from oriel.bench.alltoallv.measured import Exchange, Measured
from oriel.hosts.host import (
    STANDARD_ABI,
    Host,
    HostError,
    find_host,
    find_hosts,
    find_shadowed,
    find_unsupported,
    not_supported,
    own_program,
    prefix,
)
from oriel.hosts.nodes import Nodes, across
from oriel.report.units import size_text, time_text

_NETWORK = "oriel: network: "
_INDENT = f"  {'':<11}"


def _settings() -> list[dict[str, str]]:
    """The library's own table; printed by a program that is built from the same source."""
    program = prefix() / "bin" / "oriel-settings"
    try:
        answer = subprocess.run([program], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(
            f"{program}, which knows the table of settings, did not run ({error}). "
            "Build it with `make` or `cmake --build build`."
        ) from error
    return json.loads(answer.stdout)


def _print_host(host: Host) -> None:
    print(f"  {host.name:<11}{host.version}, {host.mpiexec}")
    state = host.library if host.library.is_file() else f"not built ({host.library})"
    print(f"  {'':<11}Oriel for it: {state}")


def _told(rows: list[dict], memory: str) -> list[str]:
    """One line for all ranks where they say the same."""
    if len({row[memory] for row in rows}) == 1:
        return [f"from every rank: {rows[0][memory]}"]
    return [f"from rank {row['rank']} ({row['node']}): {row[memory]}" for row in rows]


def _print_paths(host: Host, ranks: int, nodes: Nodes | None) -> None:
    """What a job of so many ranks says about itself."""
    indent = _INDENT
    try:
        program = own_program(host, "paths")
    except HostError:
        print(f"{indent}its paths are not known: this installation has no programs for it")
        return
    argv, environment = host.command(ranks, [program], True, {"ORIEL_INFO": "1"}, nodes)
    answer = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    lines = answer.stdout.splitlines()
    rows = sorted(
        (json.loads(line) for line in lines if line.startswith("{")), key=lambda row: row["rank"]
    )
    if answer.returncode != 0 or len(rows) != ranks:
        print(f"{indent}a job of {ranks} ranks failed: {answer.stderr.strip()[-500:]}")
        return
    network = [line for line in answer.stderr.splitlines() if line.startswith(_NETWORK)]
    print(f"{indent}between nodes: {network[0].removeprefix(_NETWORK) if network else 'unknown'}")
    for memory, calls in (("allocated", "MPI_Win_allocate"), ("created", "MPI_Win_create")):
        for line in _told(rows, memory):
            print(f"{indent}{calls}, {line}")


def print_choices(host: Host, known: Measured) -> None:
    """What auto is: where something was measured the fastest one, with the times of all."""
    choices = known.on(host)
    if not choices:
        print(
            f"{_INDENT}oriel_alltoallv=auto is what the first starts of each request show: nothing "
            "was measured on this processor. "
            f"`oriel bench alltoallv --mpi {host.name}` measures it."
        )
        return
    print(
        f"{_INDENT}oriel_alltoallv=auto is, by what was measured (µs of notified, two_sided, "
        "notified_hierarchy, fence, lock):"
    )
    cells = {
        (line.bytes, (line.nodes, line.ranks)): f"{choice} ({_times_text(line)})"
        for line, choice in choices.items()
    }
    places = sorted({place for _, place in cells})
    rows = [["", *(_place_text(ranks, nodes) for nodes, ranks in places)]]
    for size in sorted({size for size, _ in cells}):
        rows.append([size_text(size), *(cells.get((size, place), "–") for place in places)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths))
        print(f"{_INDENT}  {line.rstrip()}")


def _times_text(line: Exchange) -> str:
    times = [line.notified, line.two_sided, line.notified_hierarchy, line.fence, line.lock]
    return ", ".join("–" if time is None else time_text(time) for time in times)


def _place_text(ranks: int, nodes: int) -> str:
    return f"{ranks} ranks" if nodes == 1 else f"{ranks} ranks on {nodes} nodes"


def _print_file(known: Measured) -> None:
    print("\nWhat was measured of persistent all-to-all exchanges")
    print(f"  {known.file or 'is kept nowhere (ORIEL_MEASURED)'}")
    if known.fault:
        print(f"  There is something wrong with it: {known.fault}.")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="oriel info", description=__doc__)
    parser.add_argument("--mpi", metavar="NAME", help="only this MPI")
    parser.add_argument(
        "-n",
        type=int,
        default=2,
        metavar="N",
        help="ranks of the job that tells which way its ranks take to one another (default: 2)",
    )
    parser.add_argument(
        "--hosts",
        type=int,
        default=1,
        metavar="H",
        help="spread them over H nodes that are made of network namespaces of this machine "
        "(takes root; default: 1, this machine)",
    )
    given = parser.parse_args(argv)
    if given.n < 1 or given.hosts < 1:
        parser.error("-n and --hosts take a number above 0.")
    if given.mpi:
        hosts, shadowed, unsupported = [find_host(given.mpi)], [], []
    else:
        hosts, shadowed, unsupported = find_hosts(), find_shadowed(), find_unsupported()
        hosts += [host.with_standard_abi() for host in hosts if host.standard_abi]
    print(f"oriel {__version__} in {prefix()}")
    print("\nMPIs" if hosts or unsupported else "\nMPIs: none found; put an mpiexec on PATH.")
    known = measured.read()
    with across(given.hosts) as nodes:
        for host in hosts:
            _print_host(host)
            if host.library.is_file() and not host.name.endswith(STANDARD_ABI):
                _print_paths(host, given.n, nodes)
                print_choices(host, known)
    for host in shadowed:
        _print_host(host)
        print(
            f"             for programs that are linked with it; --mpi {host.name} is the one above"
        )
    for host in unsupported:
        print(f"  {host.name:<11}{host.version}, {host.mpiexec}: {not_supported(host.title)}")
    _print_file(known)
    print("\nSettings (environment variables of the ranks)")
    table = _settings()
    width = max(len(setting["name"]) for setting in table)
    for setting in table:
        default = setting["default"] or "empty"
        print(f"  {setting['name']:<{width}}  {setting['kind']:<5} default {default}")
        for line in textwrap.wrap(setting["help"], 90):
            print(f"      {line}")
    return 0
