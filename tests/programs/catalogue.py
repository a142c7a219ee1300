# SPDX-License-Identifier: BSD-3-Clause
"""All programs of `make programs`, in the order of the table."""

from __future__ import annotations

import coarrays
import cp2k
import forest
import global_arrays
import nwchem
import python_programs
import star_forest
from program import Program

PROGRAMS: tuple[Program, ...] = (
    nwchem.PROGRAM,
    global_arrays.PROGRAM,
    star_forest.PROGRAM,
    coarrays.PROGRAM,
    cp2k.PROGRAM,
    forest.PROGRAM,
    python_programs.SPPY,
    python_programs.PSHMEM,
    python_programs.SYNC,
    python_programs.STORAGE,
)
