# SPDX-License-Identifier: BSD-3-Clause
"""One run of an MPI program: ended when it takes too long; a failure is reported in a sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

Result = TypeVar("Result")

# The signals that ask a command to end.
ENDING = (signal.SIGINT, signal.SIGTERM)

PROGRAMS = (
    "patterns",
    "micro",
    "pending",
    "halo",
    "cholesky",
    "progress",
    "notify",
    "stencil",
    "tree",
    "windows",
    "threads",
    "alltoallv",
    "collectives",
    "network",
)  # each begins its sentences with its name

# What launchers say on a busy machine before any rank has been started: worth another attempt.
_LAUNCHER_FAILED = ("The PMIx server's listener thread failed to start",)
ATTEMPTS = 3
_REASON_LETTERS = 300


def run(argv: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[str, str]:
    """Returns what the job printed and, where it failed, why."""
    result, _ = until_started(lambda: _run_once(argv, environment, timeout_s))
    return result


def until_started(attempt: Callable[[], tuple[Result, str]]) -> tuple[Result, str]:
    """A run's result, and what it printed; of another attempt where its launcher has not come as
    far as to start ranks, which may be several times."""
    for _ in range(ATTEMPTS):
        result, printed = attempt()
        if not any(sentence in printed for sentence in _LAUNCHER_FAILED):
            break
    return result, printed


def _run_once(
    argv: Sequence[str], environment: Mapping[str, str], timeout_s: float
) -> tuple[tuple[str, str], str]:
    try:
        with started(
            argv,
            end,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return ("", f"it did not end within {timeout_s:g} s"), ""
    if process.returncode != 0:
        return ("", f"it ended with status {process.returncode}: {_reason(errors)}"), errors
    return (output, ""), ""


@contextlib.contextmanager
def started(
    argv: Sequence[str], end: Callable[[subprocess.Popen], object], **options
) -> Iterator[subprocess.Popen]:
    """A process, which `end` is called with where the block raises. A signal that ends this command
    arrives before the process is started, or in the block: where its handler raised in between, the
    process would be left alone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

    def permit_signals() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        process = subprocess.Popen(argv, preexec_fn=permit_signals, **options)
        try:
            permit_signals()
            yield process
        except BaseException:
            end(process)
            raise
    finally:
        permit_signals()


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
    """What says most in the error output: a line of one of our programs', else of Oriel's, else of
    the MPI's, else all of the last paragraph, because launchers break sentences over lines."""
    lines = [line.strip(" -*=") for line in errors.splitlines()]
    for mark in (*(f"{program}: " for program in PROGRAMS), "oriel: ", "MPI_ERR_", "Fatal error"):
        for line in lines:
            if mark in line:
                return line.rstrip(".")
    paragraphs = [" ".join(group) for is_text, group in groupby(lines, key=bool) if is_text]
    if not paragraphs:
        return "it printed nothing"
    return textwrap.shorten(paragraphs[-1].rstrip("."), _REASON_LETTERS, placeholder=" ...")
