# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests (G10), by scripts/mpi4py-tests: each run of them beside other tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "mpi4py-tests"
# More than the script itself takes for fetching mpi4py and for one run.
LIMIT_SECONDS = 2000


# The longest first: no worker is left with one when all others are done.
@pytest.mark.parametrize("ranks", [4, 2, 1])
@pytest.mark.parametrize("host", ["openmpi", "mpich"])
def test_one_sided(host, ranks):
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--mpi", host, "--ranks", str(ranks)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    assert "passed" in ended.stdout
