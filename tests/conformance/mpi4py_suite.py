# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of one-sided communication: the tests come from its source distribution, the
module from its wheel, which finds any MPI at run time."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path

from oriel.hosts.host import Host

VERSION = "4.1.2"
NAME = f"mpi4py {VERSION}'s tests"
MODULES = ("test_win", "test_rma", "test_rma_nb", "test_util_sync")
FOLDER = Path(__file__).resolve().parents[2] / "build" / "mpi4py"
FETCH_SECONDS = 600


@contextlib.contextmanager
def _alone():
    """One process at a time: the tests may be started side by side."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prepare() -> tuple[Path, Path]:
    """A Python that has mpi4py, and the folder of its tests, fetched once."""
    python = FOLDER / "venv" / "bin" / "python"
    tests = FOLDER / f"mpi4py-{VERSION}" / "test"
    stamp = FOLDER / f".fetched-{VERSION}"
    if not stamp.exists():
        print(f"fetching mpi4py {VERSION}")
        venv.create(FOLDER / "venv", with_pip=True)
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        package = f"mpi4py=={VERSION}"
        install = [*pip, "install", "--only-binary", "mpi4py", package]
        subprocess.run(install, check=True, timeout=FETCH_SECONDS)
        download = ["download", "--no-deps", "--no-binary", "mpi4py", "--dest", FOLDER, package]
        subprocess.run([*pip, *download], check=True, timeout=FETCH_SECONDS)
        with tarfile.open(FOLDER / f"mpi4py-{VERSION}.tar.gz") as archive:
            # Debian 12's Python, 3.11.2, has no filters yet.
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(FOLDER, **safe)
        stamp.touch()
    return python, tests


def command(host: Host, modules: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """What each rank runs, fetched before, and the variables that it needs."""
    with _alone():
        python, tests = _prepare()
    words = [str(python), str(tests / "main.py"), "--no-builddir"]
    for module in modules:
        words += ["-i", rf"^{module}\.py$"]
    return words, variables(host)


def variables(host: Host) -> dict[str, str]:
    """By which mpi4py's wheel takes this MPI: its own choice would be the standard ABI where a host
    has both."""
    return {"MPI4PY_LIBMPI": str(_library(host)), "MPI4PY_MPIABI": host.kind.abi}


def _library(host: Host) -> Path:
    names = ("libmpi.so", "*/libmpi.so.40" if host.name == "openmpi" else "*/libmpich.so.12")
    return next(path for name in names for path in (host.prefix / "lib").glob(name))
