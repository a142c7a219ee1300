# SPDX-License-Identifier: BSD-3-Clause
"""The libraries export the calls of the table, under both names, the functions that the Fortran
module and the hosts' Fortran layers call, and nothing else."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import fortran
import pytest
import table as calls_table

OF_OPENMPI = ("get_attr", "set_attr", "create_keyval", "create_errhandler")
# What a Fortran layer calls, and conversions of handles, by the library: Open MPI's has a function
# for each name that a compiler may give it.
OF_LAYERS = {
    "mpich": {
        "MPII_Win_get_attr",
        "MPII_Win_set_attr",
        "MPII_Keyval_set_proxy",
        "MPII_Errhandler_set_cxx",
    },
    "openmpi": {
        spelling(f"{layer}mpi_win_{call}")
        for call in OF_OPENMPI
        for layer in ("", "p")
        for spelling in (str, str.upper, "{}_".format, "{}__".format)
    }
    | {f"ompi_win_{call}_f" for call in OF_OPENMPI}
    | {f"{layer}MPI_Win_{call}" for call in ("c2f", "f2c") for layer in ("", "P")},
    "abi": {f"{layer}MPI_Win_{call}" for call in ("toint", "fromint") for layer in ("", "P")},
}
LIBRARIES = sorted((Path(__file__).resolve().parents[2] / "build" / "lib").glob("liboriel_*.so"))


def table() -> dict[str, set[str]]:
    """The calls' names, and those of their twins for tools, by the macro of their hosts."""
    found = calls_table.Table(calls_table.TABLE.read_text(encoding="utf-8"))
    names = defaultdict(set)
    for call in found.all_calls("", *{call.group.header for call in found.calls}):
        names[call.when] |= {call.name, f"P{call.name}"}
    names[""] |= {*fortran.entry_points(found)}
    return names


def exported(library: Path) -> set[str]:
    words = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
    found = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return {line.split()[0] for line in found.splitlines()}


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_exports_the_table(library):
    found = exported(library)
    known = OF_LAYERS[library.stem.removeprefix("liboriel_")]
    assert known <= found
    for when, names in table().items():
        # A host has all calls of a macro or none.
        if not when or names & found:
            assert not names - found
            known = known | names
    assert not found - known


def test_some_library_has_each_call():
    assert LIBRARIES
    found = set().union(*map(exported, LIBRARIES))
    assert not set().union(*table().values()) - found


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_stays_when_the_program_closes_it(library):
    """What it registers for exit() is then still there: a host that a program has opened by dlopen
    takes the library along when it is closed."""
    words = ["readelf", "--dynamic", "--wide", str(library)]
    flags = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "NODELETE" in flags
