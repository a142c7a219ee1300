# SPDX-License-Identifier: BSD-3-Clause
"""The library in use."""

from __future__ import annotations

from oriel.rma.binding import ffi, invoke


def Get_version() -> tuple[int, int, int]:
    """Returns the version of the library in use: major, minor, patch.

    Local; does not block. Errors: RuntimeError, as oriel.rma says.
    Source: the header oriel/oriel.h.

    >>> ".".join(str(number) for number in oriel.Get_version()) == oriel.__version__
    True
    """
    major, minor, patch = (ffi.new("int *") for _ in range(3))
    invoke("ORIEL_Get_version", major, minor, patch)
    return int(major[0]), int(minor[0]), int(patch[0])
