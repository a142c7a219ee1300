# SPDX-License-Identifier: BSD-3-Clause
"""XPMEM, by which ranks of one node map one another's private memory (MPI_Win_create)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from oriel.doctor.finding import MACHINE, Finding, State

_SUBJECT = "XPMEM"
_DEVICE = Path("/dev/xpmem")
# As src/transport/shm/xpmem.cpp looks for it.
_LIBRARY = "libxpmem.so.0"


def _version(library: str) -> str:
    """The version of XPMEM's kernel module, as its library tells it. Raises OSError."""
    number = ctypes.CDLL(library, use_errno=True).xpmem_version()
    if number < 0:
        raise OSError(f"{_DEVICE}: {os.strerror(ctypes.get_errno())}")
    return f"{number >> 16}.{number >> 12 & 0xF}.{number & 0xFFF}"


def examine() -> list[Finding]:
    named = os.environ.get("ORIEL_XPMEM", "")
    if named == "0":
        return [Finding(MACHINE, _SUBJECT, "not used (ORIEL_XPMEM=0)")]
    if not named and not _DEVICE.exists():
        return [Finding(MACHINE, _SUBJECT, f"none (no {_DEVICE})")]
    library = named or _LIBRARY
    try:
        return [Finding(MACHINE, _SUBJECT, f"version {_version(library)}, by {library}")]
    except (OSError, AttributeError) as error:
        return [
            Finding(
                MACHINE,
                _SUBJECT,
                f"cannot be used ({error})",
                State.LIMITED,
                "Ranks of one node reach memory of MPI_Win_create and MPI_Win_attach by system "
                "calls, which take longer than loads and stores.",
                f"Install {_LIBRARY}, which comes with XPMEM's kernel module, or name its file "
                f"with ORIEL_XPMEM; every user must be able to open {_DEVICE}.",
            )
        ]
