# SPDX-License-Identifier: BSD-3-Clause
"""What tests of all folders share."""

from __future__ import annotations

import tempfile

import pytest


@pytest.fixture(autouse=True)
def launcher_folder(monkeypatch):
    """Open MPI's launcher names its folder after its process, and gives up ("The PMIx server's
    listener thread failed to start") where one that was killed has left such a folder: numbers of
    processes come again. Each test has its own place for them. Not tmp_path, whose name is too long
    for a socket."""
    with tempfile.TemporaryDirectory(prefix="oriel", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("PRTE_MCA_prte_tmpdir_base", folder)
        yield
