# SPDX-License-Identifier: BSD-3-Clause
"""Python's packages with windows, by mpi4py's wheel, which runs on any MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import mpi4py_suite
from oriel.hosts.host import Host
from program import INPUTS, Number, Program, Task, Words, require
from system_mpis import library_path

# scripts/setup makes it.
PYTHON = Path(__file__).resolve().parents[2] / "build" / "programs-run" / "venv" / "bin" / "python"


def _command(
    words: Sequence[str], host: Host, folder: Path
) -> tuple[Sequence[str], Mapping[str, str]]:
    python = require(PYTHON, "Python's packages by `scripts/setup programs`")
    variables = {
        **mpi4py_suite.variables(host),
        **library_path(host, folder / f"wheels-{host.name}-{host.version}"),
        "OMP_NUM_THREADS": "1",
    }
    return [str(python), *words], variables


def _own(name: str) -> partial:
    return partial(_command, [str(INPUTS / f"{name}.py")])


_HUB = _own("hub_windows")
_HUB_RIGHT = (Words("hub windows: all right"),)
_FARMER = partial(
    _command,
    [
        *("-m", "mpi4py", "-m", "mpisppy.generic_cylinders"),
        *("--module-name", "mpisppy.tests.examples.farmer", "--num-scens", "3"),
        *("--solver-name", "appsi_highs", "--default-rho", "1", "--max-iterations", "30"),
        *("--rel-gap", "0.01", "--lagrangian", "--xhatshuffle", "--linearize-proximal-terms"),
    ],
)
# The incumbent in the last line, behind a time, an iteration and a bound. The optimum is known.
_INCUMBENT = r"\s+\[[^]]*\]\s+\d+\s+\S+\s+"
_FARMER_RIGHT = (Number("Abs. Gap", -108390, 1084, _INCUMBENT),)
_SYNC = _own("synchronization")
_SYNC_RIGHT = (Words("synchronization: all right"),)
_STORAGE = _own("window_storage")

SPPY = Program(
    "mpi_sppy",
    "mpi-sppy 0.14.0",
    "PyPI, `mpi-sppy` with the solver `highspy`",
    (
        Task("windows between cylinders", _HUB, _HUB_RIGHT, 3, quick=True),
        Task("farmer, three cylinders", _FARMER, _FARMER_RIGHT, 3, quick=True),
    ),
)
PSHMEM = Program(
    "pshmem",
    "pshmem 1.3.5",
    "PyPI, `pshmem`",
    tuple(
        Task(
            "its own tests",
            partial(_command, ["-c", "import pshmem.test; pshmem.test.run()"]),
            (),
            ranks,
            quick=ranks == 2,
            fails_on=("Intel MPI",),
        )
        for ranks in (2, 4)
    ),
    (
        "Intel MPI ends its tests with an assertion of its own collectives (ch4_shm_coll.c), alone "
        "and with Oriel.",
    ),
)
SYNC = Program(
    "mpi4py_sync",
    "mpi4py.util.sync 4.1.2",
    "PyPI, `mpi4py`",
    (
        Task("counter, lock, semaphore, condition", _SYNC, _SYNC_RIGHT, 2, quick=True),
        Task("counter, lock, semaphore, condition", _SYNC, _SYNC_RIGHT, 4),
    ),
)
STORAGE = Program(
    "deephyper",
    "deephyper 0.13.2",
    "PyPI, `deephyper`, two modules of it",
    tuple(
        Task(
            "its storage in a window",
            _STORAGE,
            (Number("storage:", 200 * ranks, 0), Words(" right")),
            ranks,
            quick=ranks == 2,
        )
        for ranks in (2, 4)
    ),
)
