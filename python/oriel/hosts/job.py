# SPDX-License-Identifier: BSD-3-Clause
"""One run of an MPI program: ended when it takes too long, and a failure is told in a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

PROGRAMS = (
    "patterns",
    "micro",
    "pending",
    "halo",
    "cholesky",
    "progress",
    "notify",
    "paths",
    "stencil",
    "tree",
    "windows",
    "threads",
)  # each begins its sentences with its name


def run(argv: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[str, str]:
    """Returns what the job printed and, where it failed, why."""
    process = subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except BaseException as interruption:
        end(process)
        if isinstance(interruption, subprocess.TimeoutExpired):
            return "", f"it did not end within {timeout_s:g} s"
        raise
    if process.returncode != 0:
        return "", f"it ended with status {process.returncode}: {_reason(errors)}"
    return output, ""


def end(process: subprocess.Popen, patience_s: float = 5) -> str:
    """Ends a process that leads a session of its own, and its group; returns what it has printed.
    A launcher ends its ranks when it is asked to; what is left then is killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            break  # it was waited for, and its number may be another's by now
        os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=patience_s)[0]
        except subprocess.TimeoutExpired:
            continue
    return ""


def _reason(errors: str) -> str:
    """The line of the error output that says most: one of our programs', else Oriel's, else the
    MPI's, else the last one."""
    lines = [line.strip(" -*") for line in errors.splitlines() if line.strip(" -*")]
    for mark in (*(f"{program}: " for program in PROGRAMS), "oriel: ", "MPI_ERR_", "Fatal error"):
        for line in lines:
            if mark in line:
                return line.rstrip(".")
    return lines[-1].rstrip(".") if lines else "it printed nothing"
