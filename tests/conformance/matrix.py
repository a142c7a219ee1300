#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The conformance matrix: programs of others and of ours, on every MPI of this machine, with Oriel
and without. `make conformance` runs all and writes build/conformance/matrix.md and matrix.json;
docs/conformance.md has the last one that was published."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tests" / "mpi")]

from conftest import FOR_OPENMPI, SAME  # noqa: E402
from opencoarrays import folder_of, programs  # noqa: E402
from oriel.hosts.host import Host, find_hosts, prefix  # noqa: E402
from oriel.hosts.job import run  # noqa: E402
from oriel.report.machine import description  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from system_mpis import library_path, of_debian  # noqa: E402
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
LIMIT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Case:
    """One program on one MPI."""

    suite: str
    name: str
    host: Host
    command: tuple[str, ...]
    ranks: int
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def verdict(self, with_oriel: bool) -> str:
        """Why it failed; empty: it passed."""
        settings = {**SAME, **self.environment}
        if not with_oriel:
            settings["ORIEL_TEST_HOST_ONLY"] = "1"
        if self.host.name == "openmpi":
            settings |= FOR_OPENMPI
        argv, environ = self.host.command(self.ranks, self.command, with_oriel, settings)
        _, reason = run(argv, environ, LIMIT_SECONDS)
        return reason


def hosts() -> list[Host]:
    debian = [of_debian(name) for name in ("mpich", "openmpi")]
    return [*find_hosts(), *[host for host in debian if host and host not in find_hosts()]]


def cases(folder: Path) -> Iterator[Case]:
    everywhere = hosts()
    for host in everywhere:
        found = library_path(host, folder)
        for name in OURS:
            program = prefix() / "tests" / "mpi" / host.name / name
            yield Case("C and C++, of Oriel", name, host, (str(program),), 2, found)
        for binding in BINDINGS:
            place = folder / f"{host.name}-{host.version}-{binding}"
            place.mkdir()
            program = compile_for(host, binding, place)
            if program:
                yield Case("Fortran, of Oriel", binding, host, (str(program),), 2)
        if host.name != "openmpi":
            benchmarks = next((each for each in everywhere if each.name == "intel"), None)
            for name in IMB if benchmarks else ():
                words = (str(benchmarks.prefix / "bin" / "IMB-RMA"), name)
                words += ("-iter", "5", "-msglog", "16")
                yield Case("IMB-RMA", name, host, words, 2, found)
        if host.prefix == Path("/usr"):
            for name, images in programs(host).items():
                program = folder_of(host) / name
                yield Case("OpenCoarrays 2.10", name, host, (str(program),), images)


def short(reason: str) -> str:
    """A cell's text."""
    if not reason:
        return "ok"
    return "no end" if "did not end" in reason else "fails"


def table(results: list[tuple[Case, str, str]]) -> str:
    """Suites in Markdown: a row per program, two columns per MPI."""
    lines: list[str] = []
    for suite in dict.fromkeys(case.suite for case, _, _ in results):
        part = [each for each in results if each[0].suite == suite]
        titles = list(dict.fromkeys(case.host.title for case, _, _ in part))
        lines += [
            f"\n## {suite}\n",
            "| | " + " | ".join(f"{t} | with Oriel" for t in titles) + " |",
        ]
        lines += ["|---" * (1 + 2 * len(titles)) + "|"]
        sums = {title: [0, 0, 0] for title in titles}
        same = []
        for name in dict.fromkeys(case.name for case, _, _ in part):
            cells = []
            for title in titles:
                row = [each for each in part if (each[0].name, each[0].host.title) == (name, title)]
                own, ours = (short(row[0][1]), short(row[0][2])) if row else ("", "")
                cells += [own, f"**{ours}**" if own == "ok" != ours else ours]
                if row:
                    counted = (1, own == "ok", ours == "ok")
                    sums[title] = [a + b for a, b in zip(sums[title], counted, strict=True)]
            if set(cells) <= {"ok", ""}:
                same.append(name)
            else:
                lines.append(f"| {name} | " + " | ".join(cells) + " |")
        passed = [f"{own} of {of} | {ours} of {of}" for of, own, ours in sums.values()]
        lines.append("| passed | " + " | ".join(passed) + " |")
        if same:
            lines += ["", f"All pass everywhere: {', '.join(same)}."]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="SUITE", help="suites whose name contains this")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "build" / "conformance")
    given = parser.parse_args()
    console = Console()
    results: list[tuple[Case, str, str]] = []
    with (
        tempfile.TemporaryDirectory(prefix="oriel") as folder,
        Progress(console=console) as progress,
    ):
        os.chdir(folder)  # some programs write files
        todo = [case for case in cases(Path(folder)) if (given.only or "") in case.suite]
        bar = progress.add_task("programs", total=len(todo))
        for case in todo:
            progress.update(bar, description=f"{case.host.title}: {case.name}")
            results.append((case, case.verdict(False), case.verdict(True)))
            progress.advance(bar)
    worse = [(case, ours) for case, own, ours in results if ours and not own]
    given.output.mkdir(parents=True, exist_ok=True)
    machine = ", ".join(f"{key} {value}" for key, value in description().items())
    (given.output / "matrix.md").write_text(f"{machine}\n{table(results)}", encoding="utf-8")
    rows = [
        {
            "suite": case.suite,
            "program": case.name,
            "mpi": case.host.title,
            "ranks": case.ranks,
            "host": own,
            "oriel": ours,
        }
        for case, own, ours in results
    ]
    (given.output / "matrix.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for case, reason in worse:
        console.print(f"{case.suite}, {case.name} on {case.host.title} fails with Oriel: {reason}")
    console.print(
        f"{len(results)} programs: {sum(not own for _, own, _ in results)} pass on the MPIs alone, "
        f"{sum(not ours for _, _, ours in results)} with Oriel. Table: {given.output / 'matrix.md'}"
    )
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
