# SPDX-License-Identifier: BSD-3-Clause
"""A network between two ranks on two nodes: right results by each way, times, and which operations
end while the target computes. The report can be sent to those who do not have the network."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from oriel.doctor import path_test
from oriel.hosts import job
from oriel.hosts.host import Host, own_program
from oriel.hosts.launcher import Launcher
from oriel.hosts.nodes import Nodes
from oriel.new_path import make_new
from oriel.report import machine
from oriel.report.units import size_text, time_text

RANKS = 2
_LIMIT_S = 120
_FILE = "oriel-network.json"
# In the path of a window whose ranks are on different nodes (src/engine/windows/paths.cpp).
_OVER = "over "


class NetworkTestError(Exception):
    """A sentence for the user: why the network was not tested, or what has failed."""


@dataclasses.dataclass(frozen=True)
class NetworkReport:
    """`times`: of a job as programs run it. `alone`: of a job in which the target serves the origin
    only in MPI calls, because it has no agent. Both are rows of programs/network.cpp."""

    version: str
    mpi: str
    network: str
    nodes: list[str]
    machine: dict
    checks: list[dict]
    times: list[dict]
    alone: list[dict]

    def right(self) -> bool:
        return all(check["right"] for check in self.checks)


def _rows(host: Host, launcher: Launcher, nodes: Nodes | None, settings: dict) -> list[dict]:
    program = [str(own_program(host, "network"))]
    argv, environment = host.command(RANKS, program, True, settings, nodes, launcher=launcher)
    output, reason = job.run(argv, environment, _LIMIT_S)
    if reason:
        raise NetworkTestError(f"A job of {RANKS} ranks failed: {reason}.")
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def run(
    version: str,
    host: Host,
    launcher: Launcher,
    nodes: Nodes | None,
    show_step: Callable[[str], None],
) -> NetworkReport:
    """`version`: Oriel's, for the report."""
    show_step(f"{host.title}, the way between the nodes")
    ranks, reason = path_test.run(host, RANKS, nodes, _LIMIT_S, launcher=launcher)
    if reason:
        raise NetworkTestError(f"A job of {RANKS} ranks failed: {reason}.")
    if _OVER not in ranks[0]["windows"]["allocated"]["path"]:
        raise NetworkTestError(
            f"Both ranks are on {ranks[0]['node']}, so there is no network between them. Name two "
            "nodes to the launcher, one rank on each: `oriel doctor --network -- -f hosts` (MPICH, "
            "Intel MPI), `-- --hostfile hosts --map-by node` (Open MPI), `--launcher srun -- "
            "--ntasks-per-node=1` (Slurm). As root, --hosts 2 makes two nodes of this machine."
        )
    show_step(f"{host.title}, results and times")
    rows = _rows(host, launcher, nodes, {})
    show_step(f"{host.title}, a target that only computes")
    alone = _rows(host, launcher, nodes, {"ORIEL_AGENT_INTERVAL": "0"})
    right: dict[str, bool] = {}
    for row in rows + alone:
        if "check" in row:
            right[row["check"]] = row["right"] and right.get(row["check"], True)
    return NetworkReport(
        version=version,
        mpi=host.title,
        network=ranks[0]["network"],
        nodes=[rank["node"] for rank in ranks],
        machine=machine.description(),
        checks=[{"check": check, "right": value} for check, value in right.items()],
        times=[row for row in rows if "time" in row],
        alone=[row for row in alone if row.get("target") == "computes"],
    )


def save(report: NetworkReport) -> Path:
    """In a new file of the current folder."""
    base = Path.cwd() / _FILE
    text = json.dumps(dataclasses.asdict(report), indent=2) + "\n"

    def write(path: Path) -> None:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)

    try:
        return make_new(base, write)
    except OSError as error:
        raise NetworkTestError(
            f"The report cannot be written to {base} ({error.strerror}). Start the command "
            "in a folder in which you may write."
        ) from None


def _ends_by_itself(row: dict) -> bool:
    """Whether the operation has ended while the target computed without an agent."""
    return row["us"] < row["row_us"] / 2


def _worker(alone: Iterable[dict]) -> list[str]:
    """Sentences that say which operations need the target's program."""
    lines = []
    for operation, group in itertools.groupby(alone, key=lambda row: row["time"]):
        rows = list(group)
        ending = [row for row in rows if _ends_by_itself(row)]
        lengths = ", ".join(size_text(row["bytes"]) for row in ending)
        if len(ending) == len(rows):
            lines.append(f"{operation}: ends while the target computes")
        elif ending:
            lines.append(
                f"{operation}: {lengths} end while the target computes; other lengths wait for the "
                "target's next MPI call"
            )
        else:
            lines.append(f"{operation}: waits for the target's next MPI call")
    return lines


def _time_rows(times: list[dict]) -> list[str]:
    lines = []
    by_row: dict[tuple[str, int], dict[str, float]] = {}
    for row in times:
        by_row.setdefault((row["time"], row["bytes"]), {})[row["target"]] = row["us"]
    lines.append(f"  {'':<30}{'target waits':>16}{'target computes':>18}")
    for (operation, size), us in by_row.items():
        waits, computes = (time_text(us.get(state)) for state in ("waits", "computes"))
        lines.append(f"  {operation:<22}{size_text(size):>8}{waits:>16}{computes:>18}")
    return lines


def text(report: NetworkReport) -> str:
    wrong = [check["check"] for check in report.checks if not check["right"]]
    return "\n".join(
        [
            f"{report.mpi}, from {report.nodes[0]} to {report.nodes[1]}",
            f"  {report.network}",
            "",
            "Results",
            *(
                f"  {'right' if check['right'] else 'WRONG':<7}{check['check']}"
                for check in report.checks
            ),
            "",
            "Times (medians, us)",
            *_time_rows(report.times),
            "",
            "While the target computes and Oriel's progress agent is off (ORIEL_AGENT_INTERVAL=0)",
            *(f"  {line}" for line in _worker(report.alone)),
            "",
            f"Wrong results: {', '.join(wrong)}. Do not use this network with Oriel, and attach "
            "the report to an issue."
            if wrong
            else "All results are right.",
        ]
    )
