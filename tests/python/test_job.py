# SPDX-License-Identifier: BSD-3-Clause
"""Jobs end in bounded time, and with everything that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from oriel.hosts import job


@pytest.fixture
def started(tmp_path):
    """Starts a shell; returns when it has come as far as to `ready`."""

    def start(script: str) -> subprocess.Popen:
        ready = tmp_path / "ready"
        process = subprocess.Popen(
            ["sh", "-c", f'ready() {{ : >"$0"; }}; {script}', ready],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.01)
        return process

    return start


def test_what_does_not_listen_is_killed_with_its_children(started):
    # The child holds the pipe: its output would not end before it does.
    process = started('trap "" TERM; echo more; ready; sleep 60; true')
    assert job.end(process, patience_s=0.2) == "more\n"
    assert process.returncode == -signal.SIGKILL


def test_what_listens_may_tidy_up(started):
    process = started('trap "echo tidy; exit 3" TERM; ready; while :; do sleep 0.1; done')
    assert job.end(process, patience_s=30) == "tidy\n"
    assert process.returncode == 3


def test_nobody_else_is_ended(started, monkeypatch):
    """A process that was waited for has given its number back."""
    process = started("ready; sleep 0.1")
    process.communicate(timeout=30)
    signals = []
    monkeypatch.setattr(os, "killpg", lambda *words: signals.append(words))
    job.end(process)
    assert not signals


# Handlers run in Python's main thread. Where another thread receives the signal, they run when the
# main thread has stopped waiting; a worker of pytest has other threads, and a command has none.
SIGNALED_JOB = """
import os, signal, subprocess, sys
from oriel.hosts import job

class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

subprocess.Popen = Popen
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
try:
    job.run(["sleep", "60"], os.environ, 5)
except SystemExit as raised:
    assert raised.__context__ is None, "The signal was held back until the time was over."
    raise
"""


def test_a_signal_while_a_job_starts_ends_the_job():
    """The handler of a command that is ended raises as soon as it may."""
    command = subprocess.run(
        [sys.executable, "-c", SIGNALED_JOB], capture_output=True, text=True, timeout=60
    )
    assert command.returncode == 7, command.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(command.stdout), 0)


def test_a_job_receives_the_signals_that_its_command_does():
    shows = ["grep", "SigBlk", "/proc/self/status"]
    own = subprocess.run(shows, capture_output=True, text=True, check=True, timeout=60).stdout
    assert job.run(shows, os.environ, 30) == (own, "")


def test_a_run_is_told_in_a_sentence():
    assert job.run(["sh", "-c", "echo here"], os.environ, 30) == ("here\n", "")
    assert job.run(["sleep", "60"], os.environ, 0.2) == ("", "it did not end within 0.2 s")
    _, failure = job.run(["sh", "-c", "echo oriel: it broke. >&2; exit 4"], os.environ, 30)
    assert failure == "it ended with status 4: oriel: it broke"


# As Open MPI's launcher says it, with the status that it ends with.
NOT_STARTED = """
--------------------------------------------------------------------------
The PMIx server's listener thread failed to start. We cannot
continue.
--------------------------------------------------------------------------
"""


@pytest.fixture
def launcher(tmp_path):
    """A launcher that does not come as far as to start ranks the first few times: its words, and
    how often it was called."""
    calls = tmp_path / "calls"

    def make(failures: int):
        script = (
            f'echo >>"$0"; if [ $(wc -l <"$0") -le {failures} ]; then '
            'echo "$1" >&2; exit 213; fi; echo started'
        )
        return ["sh", "-c", script, calls, NOT_STARTED], lambda: len(calls.read_text())

    return make


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_start_that_the_launcher_fails_is_tried_again(launcher, failures):
    words, calls = launcher(failures)
    assert job.run(words, os.environ, 30) == ("started\n", "")
    assert calls() == failures + 1


def test_a_launcher_that_always_fails_is_told_in_a_sentence(launcher):
    words, calls = launcher(100)
    assert job.run(words, os.environ, 30) == (
        "",
        "it ended with status 213: The PMIx server's listener thread failed to start. We cannot "
        "continue",
    )
    assert calls() == 3


def test_what_else_fails_is_not_tried_again(tmp_path):
    calls = tmp_path / "calls"
    _, failure = job.run(["sh", "-c", 'echo >>"$0"; exit 1', calls], os.environ, 30)
    assert failure == "it ended with status 1: it printed nothing"
    assert len(calls.read_text()) == 1


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        (
            "of another\nmatter.\n\n==== \nKilled by what\nnobody knows.\n",
            "Killed by what nobody knows",
        ),
        ("micro: it has no\nmore.\nlauncher: 1 died\n", "micro: it has no"),
        ("word " * 200, " ".join(["word"] * 59) + " ..."),
    ],
    ids=["paragraph", "ours", "long"],
)
def test_a_reason_is_a_paragraph_or_our_line(errors, reason):
    _, failure = job.run(["sh", "-c", 'printf "%s" "$0" >&2; exit 2', errors], os.environ, 30)
    assert failure == f"it ended with status 2: {reason}"
