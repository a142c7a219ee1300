# SPDX-License-Identifier: BSD-3-Clause
"""`oriel info`: version, MPIs found, Oriel's libraries and the table of settings."""

from __future__ import annotations

import argparse
import json
import subprocess
import textwrap

from oriel import __version__
from oriel.hosts_mpi import Host, HostError, find_host, find_hosts, prefix


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


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="oriel info", description=__doc__)
    parser.add_argument("--mpi", metavar="NAME", help="only this MPI")
    given = parser.parse_args(argv)
    if given.mpi:
        hosts = [find_host(given.mpi)]
    else:
        hosts = find_hosts()
        hosts += [host.with_standard_abi() for host in hosts if host.standard_abi]
    print(f"oriel {__version__} in {prefix()}")
    print("\nMPIs" if hosts else "\nMPIs: none found; put an mpiexec on PATH.")
    for host in hosts:
        _print_host(host)
    print("\nSettings (environment variables of the ranks)")
    table = _settings()
    width = max(len(setting["name"]) for setting in table)
    for setting in table:
        default = setting["default"] or "empty"
        print(f"  {setting['name']:<{width}}  {setting['kind']:<5} default {default}")
        for line in textwrap.wrap(setting["help"], 90):
            print(f"      {line}")
    return 0
