# SPDX-License-Identifier: BSD-3-Clause
"""Jobs end in bounded time, and with everything that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
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


def test_a_run_is_told_in_a_sentence():
    assert job.run(["sh", "-c", "echo here"], os.environ, 30) == ("here\n", "")
    assert job.run(["sleep", "60"], os.environ, 0.2) == ("", "it did not end within 0.2 s")
    _, failure = job.run(["sh", "-c", "echo oriel: it broke. >&2; exit 4"], os.environ, 30)
    assert failure == "it ended with status 4: oriel: it broke"
