# SPDX-License-Identifier: BSD-3-Clause
"""`oriel run`: starts an MPI program with Oriel, on the MPI that the program was built with.

Between two `--` the launcher takes options of its own, such as
    oriel run -n 8 -- --hostfile hosts -- ./stencil 1000
    oriel run -n 8 --launcher srun -- --ntasks-per-node=4 -- ./stencil 1000

The exit status is that of the launcher; 125 if the launcher's is 0 but the ranks ran without Oriel
although --no-oriel was not given.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from oriel.cli.report import report_on
from oriel.hosts.host import find_host
from oriel.hosts.launcher import SRUN, add_launcher_option, run_launcher, within_slurm
from oriel.hosts.load_report import LoadReport
from oriel.hosts.mpi_option import add_mpi_option
from oriel.hosts.nodes import across
from oriel.hosts.program_mpi import check_program, detect_host
from oriel.hosts.run_statistics import RunStatistics
from oriel.wait_states.record import RecordError, make_folder

# Stands for the first `--` while argparse, which would leave it out, looks for the program.
_MARK = " -- "


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel run",
        usage="oriel run -n N [OPTIONS] [-- LAUNCHER_OPTIONS --] PROGRAM [ARGUMENTS]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of ranks")
    add_mpi_option(parser, " (default: what PROGRAM needs)", standard_abi=True)
    parser.add_argument("--no-oriel", action="store_true", help="without Oriel, to compare")
    parser.add_argument(
        "--info",
        action="store_true",
        help="print which path each window takes (ORIEL_INFO=1), and at the end what the ranks did",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="record what the ranks wait for, in a new folder oriel-report, and print how "
        "long they waited, where, and for which ranks (see `oriel report`)",
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="--report; each rank also records every operation, the notifications that it takes, "
        "transfers of persistent collectives, and sweeps of its progress agent; and the file "
        "timeline.json, which https://ui.perfetto.dev opens",
    )
    add_launcher_option(parser)
    parser.add_argument(
        "--hosts",
        type=int,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes that are made of network namespaces of this machine, "
        "to try a program across nodes without a cluster (takes root; default: 1, this machine)",
    )
    parser.add_argument("program", metavar="PROGRAM", help="the program that each rank runs")
    parser.add_argument(
        "arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="what it is given"
    )
    return parser


def _parse(argv: list[str]) -> tuple[argparse.Namespace, tuple[str, ...]]:
    """The arguments, and the launcher's options. The word behind a first `--` tells which of the
    two follows: no program begins with a dash."""
    parser = make_parser()
    at = argv.index("--") if "--" in argv else len(argv)
    given = parser.parse_args([*argv[:at], *([_MARK] if at < len(argv) else []), *argv[at + 1 :]])
    options: list[str] = []
    if given.program == _MARK:
        words = given.arguments
        if words and words[0].startswith("-"):
            if "--" not in words:
                parser.error(
                    "The options of the launcher end with a second `--`, before the program."
                )
            options, words = words[: words.index("--")], words[words.index("--") + 1 :]
        if not words:
            parser.error("There is no program behind `--`.")
        given.program, *given.arguments = words
    else:  # the program's own
        given.arguments = ["--" if word == _MARK else word for word in given.arguments]
    given.report |= given.timeline
    if given.report and given.no_oriel:
        parser.error("--report and --timeline need Oriel: leave --no-oriel out.")
    if given.n < 1:
        parser.error(f"-n {given.n}: the number of ranks is at least 1.")
    if given.hosts < 1:
        parser.error(f"--hosts {given.hosts}: the number of nodes is at least 1.")
    return given, tuple(options)


def _load_report(preload: bool) -> AbstractContextManager[LoadReport | None]:
    """Of None where no folder can be made for it: the job runs as well without it."""
    if not preload:
        return nullcontext()
    try:
        return LoadReport()
    except OSError as error:
        print(
            f"oriel run: No temporary folder can be made ({error.strerror}), so it is not checked "
            "whether the ranks have loaded Oriel, and --info prints no counts. Let TMPDIR name a "
            "folder in which files can be made.",
            file=sys.stderr,
        )
        return nullcontext()


def _print_report(record: Path, timeline: bool = False) -> None:
    """What the ranks waited for, also of a run that did not end well. The exit status remains the
    run's."""
    try:
        print(report_on(record, timeline=timeline), end="", file=sys.stderr)
        print(f"oriel: the report is in {record}", file=sys.stderr)
    except (RecordError, OSError) as error:
        print(f"oriel run: {error}", file=sys.stderr)


def main(argv: list[str]) -> int:
    given, options = _parse(argv)
    by_srun = given.launcher == SRUN or (given.launcher is None and within_slurm())
    if given.mpi:
        host = find_host(given.mpi)
        check_program(given.program, host)
    else:
        host = detect_host(given.program, by_srun)
    launcher = host.launcher(given.launcher, options)
    settings = {"ORIEL_INFO": "1"} if given.info else {}
    record = make_folder() if given.report else None
    if record:
        settings["ORIEL_REPORT"] = str(record)
    if given.timeline:
        settings["ORIEL_TIMELINE"] = "1"
    program = [given.program, *given.arguments]
    preload = not given.no_oriel
    with across(given.hosts) as nodes, _load_report(preload) as report:
        command, environment = host.command(
            given.n, program, preload, settings, nodes, report, launcher
        )
        status = run_launcher(command, environment)
        if given.info and report:
            RunStatistics(report.folder).print(sys.stderr)
        if record:
            _print_report(record, given.timeline)
        if status == 0 and report:
            status, sentence = report.verdict(given.program, host.library)
            if sentence:
                print(f"oriel run: {sentence}", file=sys.stderr)
    return status if status >= 0 else 128 - status
