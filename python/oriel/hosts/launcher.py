# SPDX-License-Identifier: BSD-3-Clause
"""What starts the ranks of a job: the MPI's own mpiexec, or srun on a cluster with Slurm."""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

from oriel.hosts.job import ENDING
from oriel.hosts.mpi_kinds import MpiKind

MPIEXEC, SRUN = "mpiexec", "srun"

# Of prctl: the signal that a process receives when its parent ends.
_PR_SET_PDEATHSIG = 1


@dataclasses.dataclass(frozen=True)
class Launcher:
    """`options` are the user's, in the launcher's own words."""

    name: str = MPIEXEC
    options: tuple[str, ...] = ()

    def names(self, *options: str) -> bool:
        """Whether the user gives one of these options, which may begin with one dash or two."""
        given = {word.partition("=")[0].lstrip("-") for word in self.options if word[:1] == "-"}
        return not given.isdisjoint(option.lstrip("-") for option in options)

    def slurm_plugin(self, kind: MpiKind) -> list[str]:
        """srun's --mpi for this MPI: with a wrong one each rank is a job of its own."""
        if self.names("--mpi") or os.environ.get("SLURM_MPI_TYPE"):
            return []
        return [f"--mpi={kind.slurm_plugin}"]


def within_slurm() -> bool:
    """Whether this process is in an allocation of Slurm, and can start ranks there."""
    return bool(os.environ.get("SLURM_JOB_ID")) and shutil.which(SRUN) is not None


def add_launcher_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--launcher",
        choices=(MPIEXEC, SRUN),
        help="what starts the ranks: the mpiexec of the MPI, or srun of Slurm (default: mpiexec; "
        "srun in an allocation of Slurm if the MPI has no mpiexec)",
    )


def run_launcher(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a launcher, and returns its exit status; minus the signal that ended it.

    Who asks a job to end, such as `kill`, a batch system or ipyparallel, may signal this process
    alone. Such a signal is passed on to the launcher, which ends the ranks. If this process is
    killed, so is the launcher.
    """
    awaited = {*ENDING, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    prctl = ctypes.CDLL(None).prctl

    def prepare_launcher() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        launcher = subprocess.Popen(argv, env=environment, preexec_fn=prepare_launcher)
        while launcher.poll() is None:
            received = signal.sigwaitinfo(awaited)
            # Codes above 0 are the kernel's: the terminal signals the launcher itself, and a
            # second interrupt would make the launcher leave its ranks.
            if received.si_signo in ENDING and received.si_code <= 0:
                launcher.send_signal(received.si_signo)
        return launcher.returncode
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
