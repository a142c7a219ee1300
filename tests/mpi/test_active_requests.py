# SPDX-License-Identifier: BSD-3-Clause
"""G3: MPI permits operations with a request in passive epochs only. In fence and access epochs they
are carried out, too (requests.cpp), and each process says so once."""

from __future__ import annotations

import pytest
from conftest import folder_of

RANKS = 2


def said(job, host, program: str, test: str) -> list[str]:
    """What processes say, other than that all is well."""
    status, output = job.run_command(host, [folder_of(host) / program, test], RANKS)
    assert status == 0 and "ok: " in output, output
    return [line for line in output.splitlines() if line.startswith("oriel: ")]


# The sentence has nothing to do with the host.
@pytest.mark.hosts("mpich")
def test_each_process_says_it_once(job, host):
    lines = said(job, host, "requests", "in active epochs")
    assert len(lines) == RANKS, lines
    for line in lines:
        assert line.startswith("oriel: MPI_Rput on an unnamed window, in an epoch of MPI_Win_fence")


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize(
    ("program", "test"), [("requests", "wait families"), ("notified", "request based")]
)
def test_others_say_nothing(job, host, program, test):
    assert not said(job, host, program, test)
