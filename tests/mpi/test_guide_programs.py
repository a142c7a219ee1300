# SPDX-License-Identifier: BSD-3-Clause
"""The programs that the guides and examples of the documentation show, compiled as a user does.
Each checks its results. tests/mpi/test_fortran_module.py has those in Fortran."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, output_of
from plan import LIBRARIES
from test_cpp_interface import WARNINGS as CPP_WARNINGS
from test_python import PACKAGE, needs_packages

PROGRAMS = REPOSITORY / "programs"
IN_C = sorted(path.stem for path in (PROGRAMS / "c").glob("*.c"))
IN_PYTHON = sorted(path.stem for path in (PROGRAMS / "python").glob("*.py"))
RANKS = {"late_target": 2, "plate": 2, "ring": 3, "producer_consumer": 2}
FORMS = {"plate": (("blocking",), ("nonblocking",))}
LIMIT_SECONDS = 120

pytestmark = pytest.mark.hosts(*LIBRARIES)


def compiled(host, words: tuple[str, ...], source: Path, folder: Path) -> Path:
    call = [host.prefix / "bin" / words[0], *words[1:], "-O2", "-Werror"]
    call += ["-I", REPOSITORY / "include", source, "-o", folder / source.stem]
    call += [host.library, f"-Wl,-rpath,{host.library.parent}", "-lm"]
    environment = host.command(1, [], preload=False)[1]
    output_of([str(word) for word in call], environment, LIMIT_SECONDS)
    return folder / source.stem


def expect_ok(job, host, command: list, name: str, settings=None) -> None:
    ranks = RANKS.get(name, 4)
    status, output = job.run_command(host, command, ranks, settings)
    assert status == 0 and output.count("ok: ") == ranks, output[-4000:]


@pytest.mark.parametrize("name", IN_C)
def test_in_c(job, host, tmp_path, name):
    words = ("mpicc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic")
    program = compiled(host, words, PROGRAMS / "c" / f"{name}.c", tmp_path)
    for form in FORMS.get(name, ((),)):
        expect_ok(job, host, [program, *form], name)


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("name", ("counters", "late_target"))
def test_in_cpp(job, host, tmp_path, name):
    """tests/mpi/test_cpp_interface.py has the third one."""
    words = ("mpicxx", "-std=c++20", *CPP_WARNINGS)
    program = compiled(host, words, PROGRAMS / "cpp" / f"{name}.cpp", tmp_path)
    expect_ok(job, host, [program], name)


@pytest.mark.hosts("mpich", "openmpi", "intel")
def test_by_name(job, host):
    """A program that looks MPI's functions up by name (G1)."""
    command = [sys.executable, PROGRAMS / "python" / "by_name.py"]
    expect_ok(job, host, command, "by_name")


@needs_packages
@pytest.mark.parametrize("name", [name for name in IN_PYTHON if name != "by_name"])
def test_in_python(job, host, name):
    settings = {**PACKAGE, "MPI4PY_MPIABI": host.name}
    expect_ok(job, host, [sys.executable, PROGRAMS / "python" / f"{name}.py"], name, settings)
