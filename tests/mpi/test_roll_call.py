# SPDX-License-Identifier: BSD-3-Clause
"""A window of ranks with Oriel and ranks without it (B2): a sentence and the end of the job, and
never a wait. A rank that is only late is waited for."""

from __future__ import annotations

import pytest
from conftest import folder_of
from plan import LIBRARIES

pytestmark = pytest.mark.hosts(*LIBRARIES)

# Rank 1 of three starts as a program that cannot be preloaded, or with Oriel switched off.
WITHOUT = """\
[ ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} != 1 ] || export $ORIEL_TEST_OF_RANK_1
exec "$0" "$@"
"""
NO_LIBRARY = "LD_PRELOAD="
SWITCHED_OFF = "ORIEL_DISABLE=1"


def run(job, host, kind, of_rank_1, limit=1):
    settings = {
        "ORIEL_ROLL_CALL": str(limit),
        "ORIEL_TEST_HOST_ONLY": "1",
        "ORIEL_TEST_OF_RANK_1": of_rank_1,
    }
    command = ["sh", "-c", WITHOUT, folder_of(host) / "roll_call", kind]
    return job.run_command(host, command, 3, settings)


@pytest.mark.parametrize("kind", ["create", "allocate", "shared", "dynamic"])
def test_a_rank_without_oriel(job, host, kind):
    """Each host begins to make a window of each kind in a way of its own."""
    status, output = run(job, host, kind, NO_LIBRARY)
    assert status != 0
    assert "rank 1 of the communicator runs without Oriel" in output
    assert "oriel: MPI_Win_" in output and "ok: " not in output


@pytest.mark.hosts("mpich")
def test_a_rank_that_has_it_switched_off(job, host):
    status, output = run(job, host, "allocate", SWITCHED_OFF)
    assert status != 0
    assert "rank 1 of the communicator runs without Oriel" in output


@pytest.mark.hosts("mpich")
def test_a_late_rank(job, host):
    long_enough_for_a_starved_rank = 6
    status, output = run(job, host, "late", "ORIEL_TEST_NOTHING=1", long_enough_for_a_starved_rank)
    assert status == 0 and "ok: 1 tests" in output, output
