# SPDX-License-Identifier: BSD-3-Clause
"""The limits of a process that matter to ranks: what `ulimit` prints."""

from __future__ import annotations

import resource
from pathlib import Path

from oriel.doctor.finding import MACHINE, Finding, State
from oriel.report.units import memory_text

# A rank opens a file for a moment per peer of its node, and a connection to each other rank that it
# reaches by TCP; the MPI library has connections of its own.
_ENOUGH_FILES = 1024
# Networks with RDMA lock the memory that they register: windows, and buffers of long operations.
_ENOUGH_LOCKED = 64 << 20
_RDMA_DEVICES = Path("/sys/class/infiniband")
# Oriel takes address space in steps of a 1024th of the limit.
_ENOUGH_ADDRESSES = 64 << 30


def _soft(limit: int) -> int | None:
    """None for unlimited."""
    value = resource.getrlimit(limit)[0]
    return None if value == resource.RLIM_INFINITY else value


def _text(value: int | None) -> str:
    return "unlimited" if value is None else memory_text(value)


def _open_files() -> Finding:
    files = _soft(resource.RLIMIT_NOFILE)
    subject, found = "open files", "unlimited" if files is None else f"{files}"
    if files is None or files >= _ENOUGH_FILES:
        return Finding(MACHINE, subject, found)
    return Finding(
        MACHINE,
        subject,
        found,
        State.LIMITED,
        "A rank has a connection to each rank that it reaches over TCP; jobs of some hundred ranks "
        "fail with `Too many open files`, and launchers fail earlier.",
        f"Raise the limit before the job starts: `ulimit -n {_ENOUGH_FILES}` or more.",
    )


def _locked_memory() -> Finding:
    locked = _soft(resource.RLIMIT_MEMLOCK)
    if locked is None or locked >= _ENOUGH_LOCKED:
        return Finding(MACHINE, "locked memory", _text(locked))
    if not any(_RDMA_DEVICES.glob("*")):
        found = f"{_text(locked)}; enough, because this machine has no RDMA device"
        return Finding(MACHINE, "locked memory", found)
    return Finding(
        MACHINE,
        "locked memory",
        _text(locked),
        State.LIMITED,
        "The network locks the memory that it reads and writes: windows of more than this fail "
        "between nodes, or are reached by messages instead of direct transfers.",
        "Lift the limit: `ulimit -l unlimited`, in a container `docker run --ulimit memlock=-1`.",
    )


def _address_space() -> Finding:
    addresses = _soft(resource.RLIMIT_AS)
    if addresses is None or addresses >= _ENOUGH_ADDRESSES:
        return Finding(MACHINE, "address space", _text(addresses))
    return Finding(
        MACHINE,
        "address space",
        _text(addresses),
        State.LIMITED,
        "A rank maps the windows of all ranks of its node; windows that do not fit into the "
        "address space fail with MPI_ERR_NO_MEM.",
        "Lift the limit: `ulimit -v unlimited`.",
    )


def _file_size() -> Finding:
    size = _soft(resource.RLIMIT_FSIZE)
    if size is None:
        return Finding(MACHINE, "file size", _text(size))
    return Finding(
        MACHINE,
        "file size",
        _text(size),
        State.LIMITED,
        "Window memory of a rank is one file in memory: more of it than this limit fails with "
        "MPI_ERR_NO_MEM.",
        "Lift the limit: `ulimit -f unlimited`.",
    )


def examine() -> list[Finding]:
    return [_open_files(), _locked_memory(), _address_space(), _file_size()]
