# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a process for its peers on other nodes (B14), without an MPI."""

from __future__ import annotations

import subprocess

import pytest
from conftest import programs_folder

WITHOUT_NETWORK = 77


def test_memory_grows_little_with_the_number_of_peers():
    program = programs_folder().parent / "peer_memory"
    if not program.is_file():
        pytest.skip("built without libfabric's headers")
    # KB for each of the last 128 peers when all have been idle for a while. The buffers of a
    # libfabric connection are 18 of them.
    words = [str(program), "--most", "24", "16", "144"]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=240)
    if answer.returncode == WITHOUT_NETWORK:
        pytest.skip("libfabric has no network here")
    assert answer.returncode == 0, answer.stdout + answer.stderr
