# SPDX-License-Identifier: BSD-3-Clause
"""`oriel doctor`: examines this machine and its MPIs, tests each path between two ranks, all tests
together within ten seconds, and says what will be slow, what will not work, and what to change.

The exit status is 1 if something will not work, and 0 otherwise.

--network tests the network between two nodes instead: right results by each way, times, and which
operations need the target's processor. It writes a report, oriel-network.json. Options of the
launcher that name the nodes follow `--`:
    oriel doctor --network --mpi mpich -- -f hosts
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import signal
import sys

from oriel import __version__
from oriel.doctor import diagnosis, finding_table, network_test
from oriel.doctor.finding import any_fails
from oriel.hosts.host import HostError, find_host, find_hosts
from oriel.hosts.launcher import add_launcher_option
from oriel.hosts.mpi_option import add_mpi_option
from oriel.hosts.nodes import across

# More than any line has, for output that is no terminal.
_UNLIMITED = 10_000


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel doctor",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mpi_option(parser, " (default: all that are found)")
    add_launcher_option(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--network",
        action="store_true",
        help="test the network between two nodes, and write a report",
    )
    parser.add_argument(
        "--hosts",
        type=int,
        choices=(1, network_test.RANKS),
        default=1,
        help="--network: make two nodes of network namespaces of this machine (takes root; "
        "default: 1, the launcher's nodes)",
    )
    return parser


def _parse(argv: list[str]) -> tuple[argparse.Namespace, tuple[str, ...]]:
    """The arguments, and the launcher's options."""
    parser = make_parser()
    at = argv.index("--") if "--" in argv else len(argv)
    given, options = parser.parse_args(argv[:at]), tuple(argv[at + 1 :])
    if not given.network and (options or given.hosts != 1):
        parser.error("--hosts and options of the launcher are for --network.")
    return given, options


def _show_progress(text: str) -> None:
    """One line of a terminal, which the next one replaces; `text` is empty at the end."""
    if sys.stderr.isatty():
        line = f"examining {text}" if text else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _test_network(given: argparse.Namespace, options: tuple[str, ...]) -> int:
    host = find_host(given.mpi) if given.mpi else next(iter(find_hosts()), None)
    if host is None:
        raise HostError("No supported MPI is found. `oriel doctor` says what there is.")
    launcher = host.launcher(given.launcher, options)
    try:
        with across(given.hosts) as nodes:
            report = network_test.run(__version__, host, launcher, nodes, _show_progress)
        file = network_test.save(report)
    except network_test.NetworkTestError as error:
        _show_progress("")
        print(f"oriel doctor: {error}", file=sys.stderr)
        return 1
    _show_progress("")
    if given.json:
        print(file.read_text(encoding="utf-8"), end="")
    else:
        print(network_test.text(report))
        print(f"The report is in {file}.")
    return 0 if report.right() else 1


def main(argv: list[str]) -> int:
    given, options = _parse(argv)
    # So that it ends its jobs and removes its nodes, if it is ended from outside.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if given.network:
        return _test_network(given, options)
    _show_progress("this machine")
    try:
        findings = diagnosis.examine_machine()
        findings += diagnosis.examine_hosts(given.mpi, given.launcher, _show_progress)
    finally:
        _show_progress("")
    fails = any_fails(findings)
    if given.json:
        rows = [dataclasses.asdict(finding) for finding in findings]
        print(json.dumps({"version": __version__, "works": not fails, "findings": rows}, indent=2))
    else:
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED
        print(finding_table.text(findings, columns))
    return 1 if fails else 0
