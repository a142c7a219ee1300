# SPDX-License-Identifier: BSD-3-Clause
"""/dev/shm, through which the MPI libraries share memory, and Oriel without memfd_create."""

from __future__ import annotations

import os

from oriel.doctor.finding import MACHINE, Finding, State
from oriel.doctor.permissions import memfd_error
from oriel.report.units import memory_text

_FOLDER = "/dev/shm"
# A job of a few ranks takes some megabytes of it for the MPI library's own messages.
_ENOUGH = 64 << 20
_ADVICE = (
    "Make it larger: `mount -o remount,size=1g /dev/shm` as root, `docker run --shm-size=1g`, or "
    "delete files that ended jobs have left there."
)


def _examine_missing(found: str) -> Finding:
    return Finding(
        MACHINE,
        _FOLDER,
        found,
        State.LIMITED if memfd_error() == 0 else State.FAILS,
        "The MPI libraries share memory through it, and so does Oriel where memfd_create is "
        "refused.",
        "Mount it as root: `mount -t tmpfs -o mode=1777 tmpfs /dev/shm`.",
    )


def examine() -> list[Finding]:
    try:
        status = os.statvfs(_FOLDER)
    except OSError as error:
        return [_examine_missing(f"not there ({error.strerror})")]
    if not os.access(_FOLDER, os.W_OK | os.X_OK):
        return [_examine_missing("not writable")]
    size, free = status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize
    found = f"{memory_text(size)}, of which {memory_text(free)} are free"
    if free >= _ENOUGH:
        return [Finding(MACHINE, _FOLDER, found)]
    if memfd_error() == 0:
        sentence = (
            "Oriel's windows do not need it, but the MPI library's own messages do: a job may end "
            "with a bus error or may not start."
        )
        return [Finding(MACHINE, _FOLDER, found, State.LIMITED, sentence, _ADVICE)]
    sentence = (
        "memfd_create is refused, so windows lie in /dev/shm: making windows of more than "
        f"{memory_text(free)} together fails with MPI_ERR_NO_MEM."
    )
    return [Finding(MACHINE, _FOLDER, found, State.FAILS, sentence, _ADVICE)]
