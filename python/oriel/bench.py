# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench micro`: the time of one-sided calls, each host MPI alone against Oriel on it.
`oriel bench pending`: very many pending nonblocking epochs in one process.
`oriel bench halo`: epochs against point-to-point communication, in an exchange of ghost cells.
`oriel bench progress`: put and flush to a target that computes, against one that waits in MPI."""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oriel import bench_figure, bench_halo, bench_progress, benchmark, job, machine
from oriel.benchmark import NAMES, positive, version
from oriel.hosts_mpi import Host, HostError, own_program
from oriel.nodes import Nodes, NodesError, across
from oriel.timings import FAR, HOST, NEAR, ORIEL, WAYS, Row, Timings

TIMEOUT_S = 180
SUBJECTS = ("windows", "messages")
# Between nodes: what travels with its synchronization, what is cut into pieces, and in between.
NETWORK_SIZES = ("8", "4096", "65536", "1048576", "4194304")
QUICK_OPTIONS = ("--batches", "3", "--batch-us", "50")
QUICK_PENDING = 1000
# So many times the rounds asked for at most, if the distance of the cores changes between runs.
MOST_ROUNDS = 3
STATISTICS = {"median": Timings.median, "fastest": Timings.fastest}
WINDOW_TITLES = {
    "allocated": "Allocated windows (MPI_Win_allocate)",
    "created": "Created windows (MPI_Win_create on private memory)",
    "none": "No window: messages in a program without windows",
}


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="oriel bench", description=__doc__)
    subject = parser.add_subparsers(
        dest="subject", required=True, metavar="micro|pending|halo|progress"
    )
    micro = subject.add_parser("micro", help="time of every kind of call against the host MPIs")
    micro.add_argument(
        "--runs",
        type=positive,
        default=5,
        metavar="R",
        help="how often each program is started each way (default: 5)",
    )
    micro.add_argument(
        "--by",
        choices=list(STATISTICS),
        default="median",
        help="what the tables compare: the median, or the fastest batch, which other work on the "
        "machine disturbs least (default: median)",
    )
    pending = subject.add_parser("pending", help="many pending epochs: completion and memory")
    pending.add_argument(
        "--pending",
        type=positive,
        default=1_000_000,
        metavar="N",
        help="how many epochs are pending at once (default: 1000000)",
    )
    halo = subject.add_parser("halo", help="an exchange of ghost cells against messages")
    bench_halo.add_arguments(halo)
    progress = subject.add_parser("progress", help="puts to a target that computes")
    bench_progress.add_arguments(progress)
    for each in (micro, halo, progress):
        each.add_argument(
            "--hosts",
            type=positive,
            default=1,
            metavar="H",
            help="spread the ranks over H nodes made of network namespaces of this machine (takes "
            "root; default: 1, this machine itself)",
        )
        each.add_argument(
            "--output",
            type=Path,
            default=Path("build/bench"),
            metavar="FOLDER",
            help="where figure and results go (default: build/bench)",
        )
    for each in (micro, pending, halo, progress):
        each.add_argument(
            "--mpi",
            default="all",
            metavar="NAME",
            help="the host MPIs: mpich, openmpi, intel with commas between them, or all (default: "
            "all that are found)",
        )
        each.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
    return parser.parse_args(argv)


def _plan(hosts: list[Host], number: int) -> Iterator[tuple[Host, str, str]]:
    """(host, subject, way) of every job of a round. The ways alternate, and so do the hosts, so
    that what disturbs the machine for a while disturbs all; every second time ours comes first."""
    for host in hosts:
        for subject in SUBJECTS:
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                yield host, subject, way


def _enough(timings: Timings, runs: int) -> bool:
    """Whether every row has a distance of the cores at which each way was measured often enough."""
    needed = (runs + 1) // 2
    return all(max(timings.support(row).values()) >= needed for row in timings.rows())


def _measure(
    hosts: list[Host], runs: int, quick: bool, nodes: Nodes | None
) -> tuple[Timings, list[str]]:
    timings = Timings(between_nodes=nodes is not None)
    failures: dict[tuple[str, str, str], str] = {}
    jobs = len(list(_plan(hosts, 0)))
    with benchmark.progress() as progress:
        task = progress.add_task("", total=runs * jobs)
        for number in range(runs if quick else MOST_ROUNDS * runs):
            if number >= runs:
                if failures or _enough(timings, runs):
                    break
                progress.update(task, total=(number + 1) * jobs)
            for host, subject, way in _plan(hosts, number):
                what = f"{version(host)}, {subject}, {'alone' if way == HOST else 'with Oriel'}"
                progress.update(task, description=what)
                if (host.name, subject, way) not in failures:
                    program = [str(own_program(host, "micro")), "--measure", subject]
                    program += QUICK_OPTIONS if quick else ()
                    if nodes:
                        program += [word for size in NETWORK_SIZES for word in ("--bytes", size)]
                    argv, environment = host.command(2, program, preload=way == ORIEL, nodes=nodes)
                    output, failure = job.run(argv, environment, TIMEOUT_S)
                    if not failure and timings.read(host.name, way, output) == 0:
                        failure = "it printed no results"
                    if failure:
                        failures[host.name, subject, way] = f"{what}: the run failed, {failure}."
                progress.advance(task)
        progress.update(task, description="measured")
    return timings, list(failures.values())


def _distances(timings: Timings) -> str:
    """What the distance of the cores was, as a sentence."""
    seen = timings.distances()
    near = f"{statistics.median(seen[NEAR]):.0f} ns" if seen[NEAR] else "an unknown time"
    if not seen[FAR]:
        return f"A cache line took {near} from one rank's core to the other's and back."
    far = f"{statistics.median(seen[FAR]):.0f} ns"
    rows = timings.rows()
    places = [timings.distance(row) for row in rows]
    mixed = f", {places.count(None)} from runs of both" if None in places else ""
    return (
        f"The distance of the two cores changed: a cache line took {near} there and back, or "
        f"{far}. "
        f"A row compares runs of one distance: {places.count(NEAR)} rows near, "
        f"{places.count(FAR)} far{mixed}."
    )


def _microseconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _ours(timings: Timings, row: Row, host: str, by: str) -> Text:
    value = STATISTICS[by]
    ratio = timings.ratio(row, host, value)
    if ratio is None:
        return Text("–")
    late = row.has_window and ratio > timings.limit(row)
    cell = f"{_microseconds(value(timings, row, host, ORIEL))}  {ratio:.2f}×{'!' if late else ' '}"
    return Text(cell, style="red" if late else "")


def _table(timings: Timings, window: str, by: str) -> Table:
    table = Table(title=f"{WINDOW_TITLES[window]}: {by} µs", title_justify="left")
    table.add_column("Row")
    hosts = timings.hosts()
    for host in hosts:
        table.add_column(NAMES.get(host, host), justify="right")
    for host in hosts:
        table.add_column(f"Oriel on {NAMES.get(host, host)}", justify="right")
    for row in timings.rows():
        if row.window == window:
            theirs = [_microseconds(STATISTICS[by](timings, row, host, HOST)) for host in hosts]
            table.add_row(row.title, *theirs, *(_ours(timings, row, host, by) for host in hosts))
    return table


def verdicts(timings: Timings) -> list[str]:
    """How far what was promised holds, as sentences."""
    rows = [row for row in timings.rows() if row.has_window]
    short = [row for row in rows if timings.limit(row) < 1]
    groups = (
        (short, "8 B rows on allocated windows", "at most half of the best host's time"),
        (
            [row for row in rows if row not in short],
            "other rows",
            "not slower than the best host",
        ),
    )
    sentences = []
    for members, name, promise in groups:
        pairs = sum(
            timings.ratio(row, host) is not None for row in members for host in timings.hosts()
        )
        if not pairs:
            continue
        missed = len(timings.misses(members))
        missed_fastest = len(timings.misses(members, Timings.fastest))
        sentences.append(
            f"{name}, {promise}: {pairs - missed} of {pairs} by the median, "
            f"{pairs - missed_fastest} of {pairs} by the fastest batch."
        )
    return sentences


def _micro(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    hosts = benchmark.compared(arguments.mpi, "micro")
    where = machine.description()
    versions = {host.name: version(host) for host in hosts}
    runs = 1 if arguments.quick else arguments.runs
    timings, failures = _measure(hosts, runs, arguments.quick, nodes)
    for window in WINDOW_TITLES:
        if any(row.window == window for row in timings.rows()):
            console.print(_table(timings, window, arguments.by))
    console.print(
        "×: ours against the best host's own time in the row; without windows, against the same "
        "host. !: more than promised.",
        highlight=False,
    )
    distances = [] if nodes else [_distances(timings)]
    place = f"{benchmark.place(where, versions, arguments.hosts)}; {runs} runs or more"
    results = {
        "machine": where,
        "hosts": versions,
        "runs": runs,
        "nodes": arguments.hosts,
        "rows": timings.as_json(),
    }

    def draw(where: str, path: Path) -> None:
        value = STATISTICS[arguments.by]
        bench_figure.draw(timings, versions, arguments.hosts, value, where, path)

    notes = [*verdicts(timings), *distances]
    path = arguments.output / "micro.png"
    return benchmark.report(console, notes, failures, place, results, path, draw)


def _pending(arguments: argparse.Namespace, console: Console, _: Nodes | None) -> int:
    hosts = benchmark.find(arguments.mpi)
    epochs = QUICK_PENDING if arguments.quick else arguments.pending
    table = Table(title=f"{epochs:,} pending lock epochs", title_justify="left")
    table.add_column("MPI")
    for title in ("Turn", "Open (s)", "Complete (s)", "Grown (MB)", "Bytes per epoch"):
        table.add_column(title, justify="right")
    failures = []
    for host in hosts:
        program = [str(own_program(host, "pending")), "--pending", str(epochs)]
        output, failure = job.run(*host.command(2, program), TIMEOUT_S)
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            turn = json.loads(line)
            table.add_row(
                version(host),
                str(turn["turn"]),
                f"{turn['open_s']:.3f}",
                f"{turn['complete_s']:.3f}",
                f"{(turn['pending_kb'] - turn['before_kb']) / 1024:.1f}",
                f"{turn['grown_bytes_per_epoch']:.0f}",
            )
        if failure:
            failures.append(f"{version(host)}: the run failed, {failure}.")
    console.print(table)
    for failure in failures:
        console.print(f"- {failure}", highlight=False, markup=False)
    return 1 if failures else 0


SUBCOMMANDS = {
    "micro": _micro,
    "pending": _pending,
    "halo": bench_halo.run,
    "progress": bench_progress.run,
}


def main(argv: list[str]) -> int:
    arguments = _arguments(argv)
    # So that a benchmark that is ended from outside ends its jobs as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # Without a terminal rich would fold the tables at 80 columns.
    console = Console(width=None if sys.stdout.isatty() else 132)
    try:
        with across(getattr(arguments, "hosts", 1)) as nodes:
            return SUBCOMMANDS[arguments.subject](arguments, console, nodes)
    except (HostError, NodesError) as error:
        print(f"oriel bench: {error}", file=sys.stderr)
        return 1
