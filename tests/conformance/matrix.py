#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The conformance matrix: programs of others and of ours, on every MPI of this machine, with Oriel
and without. `make conformance` runs all and writes build/conformance/matrix.md and matrix.json;
docs/conformance.md has the last one that was published."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tests" / "mpi")]

import mpi4py_suite  # noqa: E402
import mpich_suite  # noqa: E402
import reports  # noqa: E402
from case import Case  # noqa: E402
from opencoarrays import folder_of, programs  # noqa: E402
from oriel.hosts.host import Host, prefix  # noqa: E402
from oriel.hosts.mpi_kinds import NAMES  # noqa: E402
from oriel.hosts.nodes import why_not  # noqa: E402
from results import Results  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from system_mpis import every_mpi, library_path  # noqa: E402
from test_fortran import BINDINGS, compile_for  # noqa: E402

# Programs in C++ whose tests are also about the host's own RMA.
OURS = (
    "atomics",
    "datatypes",
    "dynamic",
    "errors",
    "fence",
    "lifetimes",
    "operations",
    "order",
    "passive",
    "pscw",
    "reductions",
    "requests",
    "threads",
    "whole_calls",
    "window_kinds",
)
# Intel's benchmarks, which run on every MPI of MPICH's ABI. They say nothing about their data.
IMB = [
    "Unidir_put",
    "Bidir_put",
    "Unidir_get",
    "Bidir_get",
    "Put_local",
    "Put_all_local",
    "One_put_all",
    "All_put_all",
    "One_get_all",
    "All_get_all",
    "Exchange_put",
    "Exchange_get",
    "Accumulate",
    "Get_accumulate",
    "Fetch_and_op",
    "Compare_and_swap",
    "Truly_passive_put",
    "Get_local",
    "Get_all_local",
]
OUTPUT = REPOSITORY / "build" / "conformance"
# A library with a fault may hang.
REPORT_LIMIT_SECONDS = 30


class Suites:
    """All programs. A suite is made ready when its first program is asked for."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._hosts = every_mpi()
        self._no_nodes = why_not()
        self._libraries = {}
        for host in self._hosts:
            place = folder / f"{host.name}-{host.version}"
            place.mkdir()
            self._libraries[host.title] = library_path(host, place)
        self.all = {
            "Reported faults": self._reported,
            "C and C++, of Oriel": self._ours,
            mpich_suite.NAME: self._mpich,
            "IMB-RMA": self._imb,
            mpi4py_suite.NAME: self._mpi4py,
            "Fortran, of Oriel": self._fortran,
            "OpenCoarrays 2.10": self._opencoarrays,
        }

    def _case(self, suite: str, name: str, host: Host, command: tuple, ranks: int, **more) -> Case:
        environment = {**self._libraries[host.title], **more.pop("environment", {})}
        words = tuple(str(word) for word in command)
        return Case(suite, name, host, words, ranks, environment, **more)

    def _program(self, host: Host, name: str) -> Path:
        return prefix() / "tests" / "mpi" / host.name / name

    def _reported(self, suite: str) -> Iterator[Case]:
        for program in reports.PROGRAMS:
            for name in reports.tests_of(reports.FOLDER / f"{program}.cpp"):
                for host in self._hosts:
                    path = self._program(host, program)
                    yield from self._report(suite, program, name, host, path)
        for host in self._hosts:
            place = self._folder / f"{host.name}-{host.version}-reported"
            place.mkdir()
            built = (compile_for(host, each, place, reports.FORTRAN) for each in BINDINGS)
            program = next(filter(None, built), None)
            for name in reports.tests_of(reports.FORTRAN) if program else ():
                yield from self._report(suite, "fortran", name, host, program)

    def _report(
        self, suite: str, program: str, name: str, host: Host, path: Path
    ) -> Iterator[Case]:
        needed = reports.circumstances(program, name)
        if host.name not in (needed.hosts or NAMES) or (needed.nodes > 1 and self._no_nodes):
            return
        more = {"limit_s": REPORT_LIMIT_SECONDS, "says": "ok: ", "nodes": needed.nodes}
        # The program is ended from outside, which tells a hang from a crash.
        settings = {"ORIEL_TEST_ALARM": str(2 * REPORT_LIMIT_SECONDS), **needed.settings}
        if needed.little_shm:
            more["little_shm_mebibytes"] = reports.LITTLE_SHM_MEBIBYTES
        yield self._case(
            suite, name, host, (path, name), needed.ranks, environment=settings, **more
        )

    def _ours(self, suite: str) -> Iterator[Case]:
        for host in self._hosts:
            for name in OURS:
                yield self._case(suite, name, host, (self._program(host, name),), 2)

    def _mpich(self, suite: str) -> Iterator[Case]:
        folder = OUTPUT / "mpich-tests"
        for host in self._hosts:
            # Intel MPI and the older versions run what was built for the others.
            builder = next(each for each in self._hosts if each.name == host.kind.abi)
            built = mpich_suite.build(builder, folder)
            for test in mpich_suite.tests(built, folder):
                yield self._case(
                    suite,
                    test.name,
                    host,
                    test.command,
                    test.ranks,
                    environment=test.environment,
                    says="No Errors",
                )

    def _imb(self, suite: str) -> Iterator[Case]:
        intel = next((host for host in self._hosts if host.name == "intel"), None)
        for host in self._hosts if intel else ():
            if host.name == "openmpi":
                continue
            for name in IMB:
                program = intel.prefix / "bin" / "IMB-RMA"
                command = (program, name, "-iter", "5", "-msglog", "16")
                yield self._case(suite, name, host, command, 2)

    def _mpi4py(self, suite: str) -> Iterator[Case]:
        for host in self._hosts:
            for module in mpi4py_suite.MODULES:
                command, settings = mpi4py_suite.command(host, [module])
                yield self._case(suite, module, host, command, 2, environment=settings)

    def _fortran(self, suite: str) -> Iterator[Case]:
        for host in self._hosts:
            for binding in BINDINGS:
                place = self._folder / f"{host.name}-{host.version}-{binding}"
                place.mkdir()
                program = compile_for(host, binding, place)
                if program:
                    yield Case(suite, binding, host, (str(program),), 2)

    def _opencoarrays(self, suite: str) -> Iterator[Case]:
        for host in self._hosts:
            if host.prefix == Path("/usr"):
                for name, images in programs(host).items():
                    yield Case(suite, name, host, (str(folder_of(host) / name),), images)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        metavar="SUITE",
        default="",
        help="run suites whose name contains this; of the others the table has the last run",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    console = Console()
    output = given.output.resolve()
    with (
        tempfile.TemporaryDirectory(prefix="oriel") as folder,
        Progress(console=console) as progress,
    ):
        os.chdir(folder)  # some programs write files
        suites = Suites(Path(folder)).all
        results = Results(output, list(suites))
        wanted = {name: make for name, make in suites.items() if given.only in name}
        if not wanted:
            parser.error(f"no suite has '{given.only}' in its name; there are {', '.join(suites)}.")
        for name, make in wanted.items():
            bar = progress.add_task(f"{name}: getting ready", total=None)
            try:
                todo = list(make(name))
            except mpich_suite.Missing as missing:
                console.print(f"{name} are left out: {missing}.")
                continue
            results.forget(name)
            progress.update(bar, total=len(todo))
            for case in todo:
                progress.update(bar, description=f"{name}: {case.host.title}, {case.name}")
                results.add(case, case.verdict(False), case.verdict(True))
                results.write()
                progress.advance(bar)
            progress.update(bar, description=name)
    for row in results.worse():
        console.print(
            f"{row['suite']}, {row['program']} on {row['mpi']} fails with Oriel: {row['oriel']}"
        )
    console.print(f"{results.summary()} Table: {results.page}")
    return 1 if results.worse() else 0


if __name__ == "__main__":
    sys.exit(main())
