# SPDX-License-Identifier: BSD-3-Clause
"""What tests of all folders share."""

from __future__ import annotations

import os
import signal
import tempfile

import pytest

# Python ignores these itself, and lets what it starts have the default.
OF_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
# Programs that tests read speak English, and choose their own width; sockets have short names; the
# tests are no part of a job, nor of another make.
SET = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
UNSET = {
    *("LANG", "LANGUAGE", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"),
    *("TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "POSIXLY_CORRECT"),
    *("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTHONUNBUFFERED", "PYTHONWARNINGS", "LD_PRELOAD"),
}
UNSET_PREFIXES = ("LC_", "ORIEL_", "SLURM_", "PMI_", "PMIX_", "PRTE_", "HYDRA_", "OMPI_")
# Settings of the tests themselves.
KEPT_PREFIXES = ("ORIEL_TEST_", "ORIEL_MPI_ROOT", "ORIEL_PREFIX")


def pytest_configure():
    """Tests pass in a terminal, behind nohup, in a shell's background, in a batch job and as a
    service: the programs that they start have the dispositions and the mask of signals, the umask
    and the variables of a new terminal."""
    for number in signal.valid_signals() - OF_PYTHON:
        # A signal with a handler has its default in a new program; here it is ignored as before.
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    for name in list(os.environ):
        unset = name in UNSET or name.startswith(UNSET_PREFIXES)
        if unset and not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    os.environ.update(SET)
    tempfile.tempdir = None  # chosen anew


@pytest.fixture(autouse=True)
def own_folder(monkeypatch):
    """Each test has a folder of its own for two things. Not tmp_path, whose name is too long for a
    socket.

    Open MPI's launcher names its folder after its process, and gives up ("The PMIx server's
    listener thread failed to start") where one that was killed has left such a folder: numbers of
    processes come again. What was measured on this machine before decides nothing in a test, and
    nothing is left to the user (ORIEL_MEASURED)."""
    with tempfile.TemporaryDirectory(prefix="oriel", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("PRTE_MCA_prte_tmpdir_base", folder)
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        yield
