# SPDX-License-Identifier: BSD-3-Clause
"""Which libfabric ranks of an MPI load, and which providers it has.

Run as a program, with the library's file, it prints version and providers as JSON: a provider that
crashes or hangs while it is queried ends this process, and not the command.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SONAME = "libfabric.so.1"
# Below the folder of the MPI's libraries, as src/transport/ofi/libfabric.cpp looks.
_FOLDERS = ("", "mpich", "openmpi", "libfabric/lib")
_LIMIT_S = 5
# Of struct fi_info and struct fi_fabric_attr, which the ABI libfabric.so.1 fixes, on 64 bits.
_NEXT, _FABRIC_ATTRIBUTES, _PROVIDER_NAME = 0, 104, 16


def candidates(mpi_prefix: Path, oriel_library: Path) -> list[str]:
    """In the order in which Oriel tries them."""
    chosen = os.environ.get("ORIEL_OFI_LIBRARY")
    if chosen:
        return [chosen]
    libraries = [mpi_prefix / "lib", *sorted(mpi_prefix.glob("lib/*-linux-gnu"))]
    folders = [folder / below for folder in libraries for below in _FOLDERS]
    files = (folder / SONAME for folder in (*folders, *_run_path(oriel_library)))
    return [*(str(file) for file in files if file.is_file()), SONAME]


def _ldd(library: Path, variables: Mapping[str, str]) -> str:
    """What ldd prints of a library; empty if there is no ldd."""
    try:
        answer = subprocess.run(
            ["ldd", library],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout


def _run_path(library: Path) -> list[Path]:
    """The folders in which the loader looks for what this library opens: its DT_RUNPATH."""
    told = _ldd(library, {"LD_DEBUG": "libs"})
    found = re.search(rf"search path=(\S+)\s+\(RUNPATH from file {re.escape(str(library))}\)", told)
    return [Path(folder) for folder in found.group(1).split(":")] if found else []


def is_lacking(mpi_library: Path, variables: Mapping[str, str]) -> bool:
    """Whether the loader refuses this library because libfabric, which it is linked with, is not
    there. `variables`: those of its ranks."""
    return f"{SONAME} => not found" in _ldd(mpi_library, variables)


@dataclasses.dataclass(frozen=True)
class Libfabric:
    """A library that is there. `fault`: why its providers are not known; empty if they are."""

    file: str
    version: str = ""
    providers: tuple[str, ...] = ()
    fault: str = ""


def describe(library: str) -> Libfabric | None:
    """None if there is no such library."""
    # Intel MPI's providers are files beside its library.
    folder = Path(library).parent
    plugins = {"FI_PROVIDER_PATH": str(folder)} if [*folder.glob("lib*-fi.so")] else {}
    try:
        answer = subprocess.run(
            [sys.executable, __file__, library],
            env={**os.environ, **plugins},
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Libfabric(library, fault=f"does not list its providers within {_LIMIT_S} s")
    except OSError as error:
        return Libfabric(library, fault=f"was not queried for its providers ({error})")
    if answer.returncode != 0:
        fault = f"ended the process that queried its providers ({answer.returncode})"
        return Libfabric(library, fault=fault)
    found = json.loads(answer.stdout)
    return found and Libfabric(library, found["version"], tuple(found["providers"]))


def _read_pointer(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value


def _describe_here(name: str) -> dict | None:
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return None
    library.fi_version.restype = ctypes.c_uint32
    version = library.fi_version()
    first = ctypes.c_void_p()
    nothing, no_flags = None, ctypes.c_uint64(0)
    library.fi_getinfo(version, nothing, nothing, no_flags, nothing, ctypes.byref(first))
    providers = set()
    info = first.value
    while info:
        attributes = _read_pointer(info + _FABRIC_ATTRIBUTES)
        provider = attributes and _read_pointer(attributes + _PROVIDER_NAME)
        if provider:
            providers.add(ctypes.string_at(provider).decode())
        info = _read_pointer(info + _NEXT)
    return {"version": f"{version >> 16}.{version & 0xFFFF}", "providers": sorted(providers)}


if __name__ == "__main__":
    print(json.dumps(_describe_here(sys.argv[1])))
