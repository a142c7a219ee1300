# SPDX-License-Identifier: BSD-3-Clause
"""The command's standard input, output and error, each of which may be closed, or be a full disk.

A write to standard output that fails raises an `OutputError`. A sentence that standard error does
not take is lost; the exit status remains.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


class OutputError(Exception):
    """A sentence for the user: standard output takes no more."""


class _Output(io.FileIO):
    def write(self, data) -> int | None:
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(
                f"Standard output cannot be written ({error.strerror}). Free space there, or "
                "redirect the output to another place."
            ) from None


class _Errors(io.FileIO):
    def write(self, data) -> int | None:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def set_up() -> None:
    """A closed descriptor becomes one of /dev/null, for the ranks, too: else the next file that is
    opened has its number, and receives what is printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number is free
    # A name may have letters that the output's encoding has not.
    sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout, "replace")
    sys.stderr = _text(_Errors(2, "w", closefd=False), sys.stderr, "backslashreplace")


def _text(raw: io.FileIO, before: TextIO | None, errors: str) -> TextIO:
    encoding = before.encoding if before else None
    by_line = raw.isatty() or raw.fileno() == 2
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=by_line)


def discard_output() -> None:
    """Python writes what is left of the output when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
