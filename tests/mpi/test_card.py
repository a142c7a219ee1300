# SPDX-License-Identifier: BSD-3-Clause
"""A network whose card carries out writes, reads and atomics without the target's software (B4,
B14): a stand-in for one, a libfabric for nodes of one machine (support/card)."""

from __future__ import annotations

import pytest
from conftest import Job, programs_folder


@pytest.fixture
def card() -> dict[str, str]:
    """Settings with which Oriel and MPICH run on the card."""
    folder = programs_folder() / "card"
    library = folder / "libfabric.so.1"
    if not library.is_file():
        pytest.skip("built without libfabric's headers")
    return {
        "LD_LIBRARY_PATH": str(folder),
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "ORIEL_OFI_LIBRARY": str(library),
    }


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "notified", "operations", "passive", "pscw"])
def test_oriel(job, host, program, card, three_nodes):
    job.expect_ok(host, program, 4, card, three_nodes.first(2))


# Registrations as on Slingshot, and no order between writes and messages.
@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "notified", "passive"])
def test_oriel_by_offset(job, host, program, card, three_nodes):
    settings = {**card, "ORIEL_TEST_CARD": "keys=caller,order=messages"}
    job.expect_ok(host, program, 4, settings, three_nodes.first(2))


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("program", ["fence", "operations"])
def test_host_alone(host, program, card, three_nodes):
    """The host's own RMA, by its direct transfers."""
    settings = {**card, "MPIR_CVAR_DEBUG_SUMMARY": "1"}
    output = Job(True, False).expect_ok(host, program, 4, settings, three_nodes.first(2))
    assert "libfabric provider: card" in output
    assert "MPIDI_OFI_ENABLE_RMA: 1" in output
