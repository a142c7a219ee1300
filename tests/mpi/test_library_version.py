# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Get_library_version names the MPI first and Oriel last, or says what the user has chosen
(G12)."""

from __future__ import annotations

import re

from conftest import folder_of


def texts(job, host, **settings) -> tuple[str, str]:
    """The program's text and the host's own."""
    status, output = job.run_command(host, [folder_of(host) / "library_version"], 1, settings)
    assert status == 0, output
    shown = re.search(r"\[(.*)\] \[(.*)\]\n", output, re.DOTALL)
    assert shown, output
    return shown[1], shown[2]


def test_the_host_comes_first(job, host):
    shown, own = texts(job, host)
    assert shown.startswith(own)
    assert re.fullmatch(r"(, )?with Oriel \d+\.\d+\.\d+\n?", shown.removeprefix(own))


def test_the_user_chooses(job, host):
    assert texts(job, host, ORIEL_LIBRARY_VERSION="Another 1.0")[0] == "Another 1.0"
    shown, own = texts(job, host, ORIEL_LIBRARY_VERSION="x" * 10_000)
    assert shown == own, "there is no space for it"


def test_disabled(job, host):
    shown, own = texts(job, host, ORIEL_DISABLE="1", ORIEL_LIBRARY_VERSION="Another 1.0")
    assert shown == own
