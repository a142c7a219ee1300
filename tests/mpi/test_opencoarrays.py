# SPDX-License-Identifier: BSD-3-Clause
"""G10: programs of others, in Fortran: OpenCoarrays' tests. docs/conformance.md has what the MPIs
make of them alone."""

from __future__ import annotations

import pytest
from opencoarrays import folder_of, programs
from system_mpis import of_debian

# On Open MPI, where each start takes half a second, those that move data between images.
MOVING = ("get", "send", "strided", "teams_coarray", "co_reduce", "atomics", "sync")


def runs() -> list:
    found = []
    for name in ("mpich", "openmpi"):
        host = of_debian(name)
        for program, images in programs(host).items() if host else ():
            if name == "mpich" or program.startswith(MOVING):
                found.append(pytest.param(host, program, images, id=f"{name}-{program}"))
    return found or [pytest.param(None, "", 0, id="none")]


@pytest.mark.parametrize(("debian", "program", "images"), runs())
def test_program(job, tmp_path, debian, program, images):
    if debian is None:
        pytest.skip("OpenCoarrays' programs are not installed.")
    path = folder_of(debian) / program
    status, output = job.run_command(debian, ["env", "-C", str(tmp_path), path], images)
    assert status == 0, f"{program} on {images} ranks of {debian.title}:\n{output[-4000:]}"
