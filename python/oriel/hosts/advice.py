# SPDX-License-Identifier: BSD-3-Clause
"""What a user does where a part of Oriel or an MPI is missing: a source tree has `make`, an
installation has not."""

from __future__ import annotations

from pathlib import Path

_TREE = Path(__file__).resolve().parents[3]


def source_tree() -> Path | None:
    """The source tree that this package is run in; None in an installation."""
    return _TREE if (_TREE / "CMakeLists.txt").is_file() else None


def _installed_by_pip() -> bool:
    from importlib import metadata  # takes as long to import as the rest of the command

    try:
        metadata.distribution("oriel")
    except metadata.PackageNotFoundError:
        return False
    return True


def add_mpi() -> str:
    if source_tree():
        return "Put its mpiexec on PATH, or install the three MPIs of the project with `make mpis`."
    return "Put its mpiexec on PATH, for example by `pip install mpich` in this environment."


def build_for_mpi() -> str:
    """Where Oriel has nothing for an MPI."""
    if source_tree():
        return (
            "Build Oriel with this MPI: `make` does it for all three of the project, cmake for the "
            "one whose mpicxx is MPI_CXX_COMPILER."
        )
    return (
        "Reinstall Oriel: from a wheel, which has libraries for all MPIs, or from the sources with "
        "this MPI's mpicxx on PATH."
    )


def rebuild() -> str:
    """Where a program that every build has is missing or damaged."""
    return "Build it with `make`." if source_tree() else "Reinstall Oriel."


def add_package(name: str, extra: str) -> str:
    """`extra`: of pyproject.toml, to which the Python package of this name belongs."""
    if source_tree():
        return "Run `make`, which installs what is needed."
    if _installed_by_pip():
        return f"Install the extra: `pip install 'oriel[{extra}]'`."
    return f"Install it: `pip install {name}`."
