# SPDX-License-Identifier: BSD-3-Clause
"""G9: MPICH 4.0 and Open MPI 4.1, as Debian 12 has them. The programs are those that were built
for MPICH 5 and Open MPI 5, whose ABI is the same; test_fortran.py has one that is built for
these."""

from __future__ import annotations

import pytest
from conftest import oriel, programs_folder
from installed import of_debian

# What runs on both, on two ranks. Not among them: `sessions` and `lifespan` (Open MPI 4.1 has no
# sessions, MPICH 4.0 raises their errors in a handler of its own).
BOTH = (
    "atomics",
    "blocking",
    "counters",
    "created",
    "datatypes",
    "duplicates",
    "dynamic",
    "errors",
    "fence",
    "host_traffic",
    "intrinsic",
    "lent_handles",
    "lifetimes",
    "many_windows",
    "memhandles",
    "names",
    "nonblocking",
    "notified",
    "operations",
    "order",
    "passive",
    "pscw",
    "reductions",
    "remote_completion",
    "requests",
    "threads",
    "window_kinds",
)
# Persistent collectives are compared with the host's, which Open MPI 4.1 lacks. On two ranks of a
# periodic grid MPICH 4.0 itself takes what comes from below for what comes from above.
RUNS = [
    *[(name, program, 2) for program in BOTH for name in ("mpich", "openmpi")],
    ("mpich", "alltoallv", 2),
    ("mpich", "collectives", 3),
    ("mpich", "stress", 4),
    ("openmpi", "stress", 4),
]


@pytest.fixture
def debian(request, tmp_path):
    """An MPI, and how the programs find its library."""
    host = of_debian(request.param)
    if host is None or not host.supported:
        pytest.skip(f"Debian's {request.param} is not installed.")
    if not host.has("libmpi.so.12") and host.name == "mpich":
        (library,) = host.prefix.glob("lib/*/libmpich.so.12")
        (tmp_path / "libmpi.so.12").symlink_to(library)
        return host, str(tmp_path)
    (library,) = host.prefix.glob("lib/*/libmpi.so.40")
    return host, str(library.parent)


@pytest.mark.parametrize(("debian", "program", "ranks"), RUNS, indirect=["debian"])
def test_program(job, debian, program, ranks):
    host, libraries = debian
    path = programs_folder() / host.name / program
    status, output = job.run_command(host, [path], ranks, {"LD_LIBRARY_PATH": libraries})
    assert status == 0 and "ok: " in output, f"{program} on {host.title}:\n{output[-4000:]}"


@pytest.mark.parametrize("debian", ("mpich", "openmpi"), indirect=True)
def test_info_lists_it(debian):
    """Also where another MPI of its name comes first."""
    host, _ = debian
    lines = oriel("info").stdout.splitlines()
    (listed,) = (
        at for at, line in enumerate(lines) if f"{host.version}, {host.prefix}/bin" in line
    )
    assert str(host.library) in lines[listed + 1]
