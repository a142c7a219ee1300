#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs, unchanged, on every MPI of this machine that runs them, alone and with Oriel:
whether their answers are right, and how long they take. `make programs` writes
build/programs-run/programs.md and programs.json; docs/programs.md has the last tables that were
published."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("python", "tests/mpi", "tests/conformance")]

from case import Case  # noqa: E402
from catalogue import PROGRAMS  # noqa: E402
from debian import SYSTEM  # noqa: E402
from oriel.bench.ways import ORIEL  # noqa: E402
from oriel.cli.report import report_on  # noqa: E402
from oriel.hosts.host import Host  # noqa: E402
from oriel.hosts.nodes import Nodes, across, why_not  # noqa: E402
from oriel.report import machine  # noqa: E402
from oriel.report.console import progress_bar, tables_console  # noqa: E402
from oriel.wait_states.record import RecordError  # noqa: E402
from program import BETWEEN_NODES, Missing, Program, Task  # noqa: E402
from program_tables import (  # noqa: E402
    WAY_TITLES,
    Played,
    full_table,
    outcome_text,
    short_table,
    summary,
    wide_table,
)
from system_mpis import every_mpi  # noqa: E402
from turns import Turns  # noqa: E402

OUTPUT = REPOSITORY / "build" / "programs-run"
ROUNDS = 5
QUICK_ROUNDS = 3


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Programs write files; each run finds none of another's."""
    with tempfile.TemporaryDirectory(prefix="oriel", ignore_cleanup_errors=True) as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


class Player:
    """Plays the tasks of programs on the hosts."""

    def __init__(self, given: argparse.Namespace, hosts: list[Host], console):
        self._given = given
        self._hosts = hosts
        self._console = console
        self._made = given.output / "made"

    def play(self, program: Program, bar) -> list[Turns]:
        """All turns of a program's tasks; a task that cannot be run here is left out with a
        sentence."""
        played: list[Turns] = []
        for task in program.tasks:
            if self._given.quick and not task.quick:
                continue
            if task.nodes > 1 and (reason := why_not()):
                self._console.print(f"{program.title}, {task.title} is left out: {reason}")
                continue
            try:
                runs = [Turns(task, self._case(program, task, host)) for host in self._of(task)]
            except Missing as missing:
                self._console.print(f"{program.title}, {task.title} is left out: {missing}.")
                continue
            with across(task.nodes) as nodes:
                self._take_turns(runs, nodes, bar)
            played += runs
        return played

    def _of(self, task: Task) -> list[Host]:
        return [
            host
            for host in self._hosts
            if host.kind.abi in task.abis
            and (host.prefix == SYSTEM or host.kind.abi not in task.debian)
        ]

    def _case(self, program: Program, task: Task, host: Host) -> Case:
        words, needed = task.command(host, self._made)
        environment = dict(needed)
        if task.nodes > 1:
            for title, variables in BETWEEN_NODES.items():
                environment |= variables if host.title.startswith(title) else {}
        return Case(
            program.title,
            task.title,
            host,
            tuple(words),
            task.ranks,
            environment,
            limit_s=self._given.patience * task.nodes * task.limit_s,
        )

    def _take_turns(self, runs: list[Turns], nodes: Nodes | None, bar) -> None:
        line = bar.add_task("", total=len(runs) * self._given.rounds)
        for number in range(self._given.rounds):
            for turns in runs:
                bar.update(line, description=turns.title)
                with _own_folder():
                    turns.play(number, nodes)
                bar.advance(line)
        for turns in runs:
            cells = [f"{title} {outcome_text(turns, way)}" for way, title in WAY_TITLES.items()]
            self._console.print(f"{turns.title}: {', '.join(cells)}", markup=False, highlight=False)
        if self._given.report:
            for turns in runs:
                self._report(turns, nodes)

    def _report(self, turns: Turns, nodes: Nodes | None) -> None:
        """What `oriel run --report` says of one run."""
        with _own_folder() as folder:
            record = folder / "oriel-report"
            record.mkdir()
            turns.turn(ORIEL, nodes, {"ORIEL_REPORT": str(record)})
            try:
                text = report_on(record)
            except (RecordError, OSError) as error:
                text = f"{error}\n"
        reports = self._given.output / "reports"
        reports.mkdir(parents=True, exist_ok=True)
        (reports / f"{turns.title}.txt").write_text(text, encoding="utf-8")


def _write(folder: Path, played: Played, place: dict, rounds: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    runs = [turns.as_json() for _, each in played for turns in each]
    (folder / "programs.json").write_text(
        json.dumps({"machine": place, "rounds": rounds, "runs": runs}, indent=1), encoding="utf-8"
    )
    words = ", ".join(f"{key} {value}" for key, value in place.items())
    lines = [f"{words}; at most {rounds} turns of each way.", "", summary(played), ""]
    lines += [*short_table(played), "", *wide_table(runs), *full_table(played)]
    (folder / "programs.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ", ".join(program.name for program in PROGRAMS)
    parser.add_argument("--only", default="", help=f"programs, by commas: {names}")
    parser.add_argument("--mpi", default="", help="only MPIs whose title has this")
    parser.add_argument("--quick", action="store_true", help="fewer tasks, ranks and turns")
    parser.add_argument("--rounds", type=int, help="turns of each way")
    parser.add_argument(
        "--patience", type=float, default=1, help="multiplies the time limits, on a busy machine"
    )
    parser.add_argument("--report", action="store_true", help="write what the report says of each")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    given.rounds = given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS)
    given.output = given.output.resolve()
    wanted = set(filter(None, given.only.split(",")))
    if unknown := wanted - {program.name for program in PROGRAMS}:
        parser.error(f"there is no program {', '.join(sorted(unknown))}; choose among {names}.")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # ends its jobs
    console = tables_console()
    place = machine.description()
    hosts = [host for host in every_mpi() if given.mpi in host.title]
    player = Player(given, hosts, console)
    played: list[tuple[Program, list[Turns]]] = []
    with progress_bar() as bar:
        for program in PROGRAMS:
            if wanted and program.name not in wanted:
                continue
            if runs := player.play(program, bar):
                played.append((program, runs))
                _write(given.output, played, place, given.rounds)
    console.print("\n".join(short_table(played)), markup=False, highlight=False)
    lost = [
        turns for _, runs in played for turns in runs if ORIEL in turns.faults and not turns.known
    ]
    for turns in lost:
        console.print(
            f"{turns.title} fails with Oriel: {turns.faults[ORIEL]}",
            markup=False,
            highlight=False,
        )
    console.print(f"{summary(played)} Tables: {given.output / 'programs.md'}", highlight=False)
    return 1 if lost or not played else 0


if __name__ == "__main__":
    sys.exit(main())
