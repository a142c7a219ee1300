# SPDX-License-Identifier: BSD-3-Clause
"""Variables of every job that the tests start."""

from __future__ import annotations

# Open MPI has a way over libfabric that no run here takes; closing it sleeps for a second in every
# MPI_Init.
NO_SLEEP = {"OMPI_MCA_btl": "^ofi"}
# Its barriers spin without yielding unless it was told of too few cores; next to other work on the
# machine every one of them then costs a scheduler's slice.
FOR_OPENMPI = {"OMPI_MCA_mpi_yield_when_idle": "1", **NO_SLEEP}

# What was measured here changes what `auto` is: tests neither know it nor add to it.
SAME = {"ORIEL_MEASURED": "0"}
