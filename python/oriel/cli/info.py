# SPDX-License-Identifier: BSD-3-Clause
"""`oriel info` lists Oriel's version, the MPIs found and Oriel's library for each, how ranks reach
each other, the algorithm of persistent alltoallv, and all settings."""

from __future__ import annotations

import argparse
import json
import subprocess
import textwrap

from oriel import __version__
from oriel.bench import measured
from oriel.bench.measured import Measured
from oriel.doctor import path_test
from oriel.hosts import advice
from oriel.hosts.host import (
    Host,
    HostError,
    find_host,
    find_hosts,
    find_shadowed,
    find_unsupported,
    not_supported,
    prefix,
)
from oriel.hosts.mpi_option import add_mpi_option
from oriel.hosts.nodes import Nodes, across

_LIMIT_S = 120
_INDENT = f"  {'':<11}"


def library_settings() -> list[dict[str, str]]:
    """The library's own table; printed by a program that is built from the same source."""
    program = prefix() / "bin" / "oriel-settings"
    try:
        answer = subprocess.run([program], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(
            f"{program}, which knows the table of settings, did not run ({error}). "
            f"{advice.rebuild()}"
        ) from error
    return json.loads(answer.stdout)


def _print_host(host: Host) -> None:
    print(f"  {host.name:<11}{host.version}, {host.location}")
    state = host.library if host.library.is_file() else f"not built ({host.library})"
    print(f"  {'':<11}Oriel for it: {state}")


def _by_rank(rows: list[dict], kind: str) -> list[str]:
    """One line for all ranks if their paths are the same."""
    paths = [row["windows"][kind]["path"] for row in rows]
    if len(set(paths)) == 1:
        return [f"from every rank: {paths[0]}"]
    return [f"from rank {row['rank']} ({row['node']}): {path}" for row, path in zip(rows, paths)]


def _print_paths(host: Host, ranks: int, nodes: Nodes | None) -> None:
    """Of a job of so many ranks."""
    try:
        rows, reason = path_test.run(host, ranks, nodes, _LIMIT_S)
    except HostError as error:
        print(f"{_INDENT}its paths are not known: {error}")
        return
    if reason:
        print(f"{_INDENT}a job of {ranks} ranks failed: {reason}")
        return
    print(f"{_INDENT}between nodes: {rows[0]['network'] or 'unknown'}")
    for kind, call in path_test.WINDOWS.items():
        for line in _by_rank(rows, kind):
            print(f"{_INDENT}{call}, {line}")


def _print_file(known: Measured) -> None:
    print("\nWhat was measured of persistent all-to-all exchanges")
    print(f"  {known.file or 'is kept nowhere (ORIEL_MEASURED)'}")
    if known.fault:
        print(f"  There is something wrong with it: {known.fault}.")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oriel info", description=__doc__)
    add_mpi_option(parser, " (default: all that are found)", standard_abi=True)
    parser.add_argument(
        "-n",
        type=int,
        default=2,
        metavar="N",
        help="number of ranks of the test job whose paths are shown (default: 2)",
    )
    parser.add_argument(
        "--hosts",
        type=int,
        default=1,
        metavar="H",
        help="spread them over H nodes that are made of network namespaces of this machine "
        "(takes root; default: 1, this machine)",
    )
    return parser


def main(argv: list[str]) -> int:
    parser = make_parser()
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
            if host.library.is_file() and host.name == host.kind.name:
                _print_paths(host, given.n, nodes)
                for line in measured.choice_lines(known, host):
                    print(f"{_INDENT}{line}")
    for host in shadowed:
        _print_host(host)
        print(
            f"             for programs that are linked with it; --mpi {host.name} is the one above"
        )
    for host in unsupported:
        sentence = " ".join(not_supported(host.title))
        print(f"  {host.name:<11}{host.version}, {host.location}: {sentence}")
    _print_file(known)
    print("\nSettings (environment variables of the ranks)")
    table = library_settings()
    width = max(len(setting["name"]) for setting in table)
    for setting in table:
        default = setting["default"] or "empty"
        print(f"  {setting['name']:<{width}}  {setting['kind']:<5} default {default}")
        for line in textwrap.wrap(setting["help"], 90):
            print(f"      {line}")
    return 0
