# SPDX-License-Identifier: BSD-3-Clause
"""B15: a real program of the distribution, unchanged. `make programs` has more of them."""

from __future__ import annotations

import sys

import pytest
from conftest import REPOSITORY
from system_mpis import of_debian

sys.path.append(str(REPOSITORY / "tests" / "programs"))

import nwchem  # noqa: E402
from program import Missing  # noqa: E402


def test_nwchem_on_the_distributions_mpich(job, tmp_path):
    """Alone it ends with "sym_movecs_adapt: negative proj" on two ranks: MPICH 4.0's shared memory
    gives it wrong data (mpich#6110)."""
    debian = of_debian("mpich")
    if debian is None:
        pytest.skip("Debian's MPICH is not installed.")
    try:
        words, environment = nwchem.command("water.nw", debian, tmp_path)
    except Missing as missing:
        pytest.skip(str(missing))
    status, output = job.run_command(debian, ["env", "-C", tmp_path, *words], 2, environment)
    faults = [answer.fault(output) for answer in (nwchem.SCF, nwchem.MP2)]
    assert status == 0, output[-4000:]
    assert not any(faults), f"{faults}\n{output[-4000:]}"
