# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmarks of `oriel paper`, one after the other, each into a folder of its own, and
reads what they wrote. A run that fails does not end the others."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from oriel.hosts.host import prefix
from oriel.hosts.job import started
from oriel.hosts.nodes import why_not
from oriel.paper.runs import PaperRun

ALL_HOSTS = 3  # which a run's expected time is for
# A run that takes so many times what is expected of it, at the pace of those before it, is ended:
# one that hangs does not keep the others.
PATIENCE = 4
LEAST_LIMIT_S = 180
LEAVE_S = 30  # to end its jobs, and its nodes
_RECORD = "run.json"
_OUTPUT = "output.txt"
_ERRORS = "errors.txt"


@dataclass(frozen=True)
class Outcome:
    run: PaperRun
    command: str  # as a reader repeats it
    seconds: float = 0
    problem: str = ""  # why there are no results
    failed: bool = False  # in contrast to what cannot be run here
    results: dict | None = None
    others: float | None = None  # the share of the cores' time that other processes took meanwhile

    @property
    def machine(self) -> dict:
        return self.results["machine"] if self.results else {}

    @property
    def versions(self) -> dict[str, str]:
        """Of the host MPIs, by name."""
        hosts = self.results["hosts"] if self.results else {}
        if isinstance(hosts, dict):
            return hosts
        return {record["host"]: record["version"] for record in hosts}


def _command_text(arguments: Sequence[str], mpi: str) -> str:
    # All is what benchmarks take without the option; the patterns take one host.
    named = () if mpi == "all" and arguments[0] != "demo" else ("--mpi", mpi)
    return " ".join(("oriel", *arguments, *named))


def _reason(folder: Path, status: int) -> str:
    """What the run says of its failure."""
    output = (folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
    failures = [line[2:] for line in output.splitlines() if "the run failed" in line]
    if failures:
        return " ".join(failures)
    errors = (folder / _ERRORS).read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(errors) if line.strip()), "")
    return last or f"It ended with status {status}."


def _end(process: subprocess.Popen) -> None:
    """Asks it to end, so that it ends its jobs first."""
    process.terminate()
    try:
        process.wait(LEAVE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _processor_seconds() -> tuple[float, float]:
    """Of all cores since the machine's start, without interrupts, which processes outside the run
    do not cause alone; and of the jobs of ours that have ended."""
    ticks = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system = map(int, ticks[:3])
    busy = user + nice + system
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return busy / os.sysconf("SC_CLK_TCK"), ours.ru_utime + ours.ru_stime


def _run(argv: Sequence[str], folder: Path, limit_s: float, beat: Callable[[float], None]) -> str:
    """Returns why it failed; empty if it did not. `beat` is told the seconds since the start."""
    start = time.monotonic()
    with (
        (folder / _OUTPUT).open("w") as output,
        (folder / _ERRORS).open("w") as errors,
        started(argv, _end, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process,
    ):
        while process.poll() is None:
            passed = time.monotonic() - start
            if passed > limit_s:
                _end(process)
                return f"It did not end within {limit_s:g} s."
            beat(passed)
            time.sleep(0.2)
    return _reason(folder, process.returncode) if process.returncode else ""


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def measure(
    runs: Sequence[PaperRun], folder: Path, mpi: str, hosts: int, quick: bool, console: Console
) -> None:
    """Each run into a folder below this one; a line for each, and a bar on a terminal."""
    without_nodes = why_not() if any(run.nodes > 1 for run in runs) else ""

    def expected(run: PaperRun) -> float:
        return (run.quick_seconds if quick else run.seconds) * hosts / ALL_HOSTS

    total = sum(map(expected, runs))
    done = 0.0
    start = time.monotonic()
    with _bar(console) as bar:
        task = bar.add_task("", total=len(runs), left="")
        for number, run in enumerate(runs):
            run_folder = folder / run.name
            shutil.rmtree(run_folder, ignore_errors=True)
            run_folder.mkdir(parents=True)
            arguments = run.arguments(quick)
            bar.update(task, description=run.name)
            elapsed = time.monotonic() - start
            # How much slower this machine is than the one for which times are expected.
            pace = elapsed / done if done else 1.0

            def beat(passed: float, run: PaperRun = run, done: float = done, pace: float = pace):
                left = pace * (total - done) - passed
                bar.update(task, left=f"about {_minutes(max(left, 0))} left")

            begin = time.monotonic()
            busy_before, ours_before = _processor_seconds()
            if run.nodes > 1 and without_nodes:
                problem, failed = f"Not run: {without_nodes}", False
            else:
                words = ("--mpi", mpi, "--output", str(run_folder))
                argv = [str(prefix() / "bin" / "oriel"), *arguments, *words]
                limit_s = max(LEAST_LIMIT_S, PATIENCE * expected(run) * max(1, pace))
                problem = _run(argv, run_folder, limit_s, beat)
                failed = bool(problem)
            seconds = time.monotonic() - begin
            busy, ours = _processor_seconds()
            others = (busy - busy_before - (ours - ours_before)) / (os.cpu_count() * seconds)
            record = {
                "command": _command_text(arguments, mpi),
                "seconds": round(seconds, 1),
                "others": round(max(0.0, others), 3),
                "problem": problem,
                "failed": failed,
            }
            (run_folder / _RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
            done += expected(run)
            bar.advance(task)
            left = (time.monotonic() - start) / done * (total - done)
            text = f"{number + 1}/{len(runs)} {record['command']}: {_minutes(seconds)}"
            text += f", about {_minutes(left)} left" if number + 1 < len(runs) else ""
            bar.console.print(text, highlight=False, markup=False, soft_wrap=True)
            if problem:
                bar.console.print(f"  - {problem}", highlight=False, markup=False, soft_wrap=True)
        bar.update(task, description="measured", left="")


def read(run: PaperRun, folder: Path, quick: bool) -> Outcome:
    """What is in the run's folder, of whatever call."""
    run_folder = folder / run.name
    try:
        record = json.loads((run_folder / _RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Outcome(run, " ".join(("oriel", *run.arguments(quick))), problem="Not run.")
    try:
        results = json.loads((run_folder / run.file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        results = None
    if results is None and not record["problem"]:
        record |= {"problem": "It wrote no results.", "failed": True}
    return Outcome(run=run, results=results, **record)
