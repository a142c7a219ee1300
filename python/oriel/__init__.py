# SPDX-License-Identifier: BSD-3-Clause
"""Oriel in Python: `import oriel` has the calls of oriel.rma, on windows of mpi4py. The package is
also the command `oriel` and what it shares with the tests.

The calls need mpi4py and cffi: the command works without them. The first look-up of a call, or of
oriel.rma, imports mpi4py.MPI, which initializes MPI."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oriel.rma import *  # noqa: F403

# CMakeLists.txt and pyproject.toml read it here; oriel.h has it for compilers. scripts/release sets
# both.
__version__ = "0.2.0"


def _calls() -> ModuleType:
    try:
        return importlib.import_module("oriel.rma")
    except ModuleNotFoundError as error:
        if error.name not in ("mpi4py", "cffi"):
            raise
        raise ImportError(
            f"Oriel's calls in Python need {error.name}: install it with `pip install mpi4py cffi`."
        ) from error


# A checker of types sees the names that are imported above, and no others.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "rma":
            return _calls()
        # Asked also for modules of the package before they are imported, and by tools for names of
        # their own.
        if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is None:
            calls = _calls()
            if name in calls.__all__:
                value = globals()[name] = getattr(calls, name)  # asked for once
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        try:
            calls = _calls().__all__
        except ImportError:
            calls = []
        return sorted({*globals(), *calls})
