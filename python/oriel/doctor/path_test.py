# SPDX-License-Identifier: BSD-3-Clause
"""A job whose ranks move data by each path and say which paths there are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from oriel.hosts import job
from oriel.hosts.host import Host
from oriel.hosts.launcher import Launcher
from oriel.hosts.mpi_kinds import OPENMPI
from oriel.hosts.nodes import Nodes

# The kinds of windows, and the calls that make them.
WINDOWS = {"allocated": "MPI_Win_allocate", "created": "MPI_Win_create"}
_RANK = Path(__file__).with_name("path_test_rank.py")
# Closing the transport over libfabric takes a second of every MPI_Init, and no test uses it.
_FOR_OPENMPI = {"OMPI_MCA_btl": "^ofi"}


def run(
    host: Host,
    ranks: int,
    nodes: Nodes | None,
    limit_s: float,
    preload: bool = True,
    launcher: Launcher | None = None,
) -> tuple[list[dict], str]:
    """What each rank has printed (path_test_rank.py), in the order of ranks, and why the job has
    failed; empty: it has not. Raises HostError if nothing starts jobs of this MPI."""
    program = [sys.executable, str(_RANK), str(host.mpi_library()), host.kind.abi]
    settings = _FOR_OPENMPI if host.kind is OPENMPI else {}
    argv, environment = host.command(ranks, program, preload, settings, nodes, launcher=launcher)
    output, reason = job.run(argv, environment, limit_s)
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    rows.sort(key=lambda row: row["rank"])
    if not reason and len(rows) != ranks:
        reason = f"it printed {len(rows)} answers of {ranks} ranks"
    if not reason and any(row["ranks"] != ranks for row in rows):
        reason = "its ranks are no job: each one runs alone"
    return rows, reason
