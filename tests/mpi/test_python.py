# SPDX-License-Identifier: BSD-3-Clause
"""Oriel in Python: the programs of tests/mpi/python on each MPI, every example in the
documentation, and the types."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, oriel
from plan import LIBRARIES

PROGRAMS = Path(__file__).resolve().parent / "python"
SUBJECTS = ("epochs", "notified", "arguments", "buffers", "windows", "collectives", "examples")
PACKAGE = {"PYTHONPATH": str(REPOSITORY / "python")}
LIMIT_SECONDS = 120
# docs/command.md: these subcommands need no package.
NEED_NOTHING = ("commands", "completion", "doctor", "env", "info", "run")

missing = [
    name for name in ("mpi4py", "cffi", "numpy", "mypy") if importlib.util.find_spec(name) is None
]
needs_packages = pytest.mark.skipif(
    bool(missing), reason=f"{sys.executable} has no {', '.join(missing)}: `make setup` installs it"
)

# A program that a checker of types has to understand, and its mistakes.
USER_PROGRAM = """\
import oriel
from mpi4py import MPI

win = MPI.Win.Allocate(8)
data = bytearray(8)
oriel.Put_notify(win, [data, 1, MPI.DOUBLE], 1, tag=3, target=(0, 1, "d"))
with oriel.Notify_init(win, source=0) as arrived:
    arrived.Start()
requests: list[MPI.Request] = [oriel.Win_iflush(win, 1), arrived]
copy: MPI.Win = oriel.Win_dup_with_info(win)
oriel.Put_notify(win, data, 1, tag="3")
oriel.Put_notify(win.Get_group(), data, 1, tag=3)
oriel.Put_notified(win, data, 1, tag=3)
"""
MISTAKES = ((11, "arg-type"), (12, "arg-type"), (13, "attr-defined"))


def run_programs(job, host, nodes=None, subjects=SUBJECTS, package=PACKAGE) -> None:
    command = [sys.executable, PROGRAMS / "run.py", *subjects]
    # mpi4py's own choice would be the standard ABI where a host has both.
    settings = {**package, "MPI4PY_MPIABI": host.kind.abi}
    status, output = job.run_command(host, command, 2, settings, nodes)
    assert status == 0 and "ok: " in output, output[-6000:]


@needs_packages
def test_programs_and_examples(job, host):
    run_programs(job, host)


@needs_packages
@pytest.mark.hosts(*LIBRARIES)
def test_programs_and_examples_between_nodes(job, host, three_nodes):
    """Where data and notifications are messages, buffers are in use for longer."""
    run_programs(job, host, three_nodes.first(2))


def python(program: str, **settings) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**PACKAGE, **settings},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def test_the_command_needs_no_package():
    """Its modules are imported without mpi4py, cffi and numpy; a call says what it needs. Tools may
    list the package, or ask it for `__wrapped__`, as inspect.unwrap does."""
    ended = python(
        "import importlib, sys\n"
        "for name in ('mpi4py', 'cffi', 'numpy'): sys.modules[name] = None\n"
        "import oriel\n"
        f"for name in {NEED_NOTHING}: importlib.import_module('oriel.cli.' + name)\n"
        "assert not hasattr(oriel, '__wrapped__')\n"
        "assert {'__version__', 'cli'} <= set(dir(oriel))\n"
        "for name in ('Put_notify', 'rma'):\n"
        "    try: getattr(oriel, name)\n"
        "    except ImportError as error: print(error)\n"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("install it with `pip install mpi4py cffi`") == 2


@needs_packages
def test_documentation_names_what_is_there():
    """Where the documentation of a call refers to another one, as `oriel.rma.notifications`, that
    exists, and names errors and the source."""
    ended = python(
        "import re, oriel\n"
        "named = set()\n"
        "for name in dir(oriel):\n"
        "    text = getattr(oriel, name).__doc__ or ''\n"
        "    named |= set(re.findall(r'oriel[.]rma[.][a-z_]+', text))\n"
        "assert len(named) == 5, named\n"
        "for name in named:\n"
        "    text = eval(name).__doc__\n"
        "    assert 'MPI.ERR_' in text and '\\nSource: ' in text, name\n",
        MPI4PY_RC_INITIALIZE="0",
    )
    assert ended.returncode == 0, ended.stderr


@needs_packages
def test_a_program_that_runs_without_the_library_is_told(host):
    program = "import oriel; oriel.Get_version()"
    ended = oriel("run", "--no-oriel", "-n", 1, "--mpi", host.name, sys.executable, "-c", program)
    assert ended.returncode != 0
    assert "Start the program by `oriel run -n N python PROGRAM`" in ended.stderr + ended.stdout


@needs_packages
def test_types(tmp_path):
    """`mypy --strict` finds the mistakes of a program that uses the package, and no others, also in
    the package, which it reads because the program imports it."""
    program = tmp_path / "program.py"
    program.write_text(USER_PROGRAM, encoding="utf-8")
    # mypy keeps silent about packages on PYTHONPATH.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, program],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    found = [line for line in ended.stdout.splitlines() if ": error:" in line]
    assert len(found) == len(MISTAKES), ended.stdout + ended.stderr
    for line, (number, code) in zip(found, MISTAKES):
        assert f"program.py:{number}: error:" in line and line.endswith(f"[{code}]"), line
