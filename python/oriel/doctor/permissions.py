# SPDX-License-Identifier: BSD-3-Clause
"""System calls by which ranks of one node reach one another's memory: process_vm_readv for private
memory, memfd_create for shared memory."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

from oriel.doctor.finding import MACHINE, Finding, State

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_PR_SET_PTRACER = 0x59616D61
_PR_SET_PTRACER_ANY = ctypes.c_ulong(-1)


class _Range(ctypes.Structure):
    """`iovec`."""

    _fields_ = (("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def _error_of_child(action: Callable[[], int]) -> int:
    """The errno that `action` returns in a child process; a child that dies has EFAULT."""
    child = os.fork()
    if child == 0:
        status = 255
        try:
            status = action()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else errno.EFAULT


def _read_error() -> int:
    """The errno of reading the memory of a process that is no child of the reader, as ranks of one
    node do; 0 if it is permitted. A process of its own permits it first, as Oriel does."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    value = ctypes.c_uint64(0x5EED)
    there = _Range(ctypes.addressof(value), ctypes.sizeof(value))

    def permit_and_read() -> int:
        libc.prctl(_PR_SET_PTRACER, _PR_SET_PTRACER_ANY, 0, 0, 0)
        owner = os.getpid()
        return _error_of_child(lambda: read(owner))

    def read(owner: int) -> int:
        copy = ctypes.c_uint64()
        here = _Range(ctypes.addressof(copy), ctypes.sizeof(copy))
        arguments = (ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1))
        read_bytes = libc.process_vm_readv(owner, *arguments, ctypes.c_ulong(0))
        return 0 if read_bytes == ctypes.sizeof(copy) else ctypes.get_errno() or errno.EFAULT

    return _error_of_child(permit_and_read)


def _yama_scope() -> int | None:
    """None on a kernel without Yama."""
    try:
        return int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _examine_process_vm() -> list[Finding]:
    error, scope = _read_error(), _yama_scope()
    yama = "no Yama" if scope is None else f"Yama's ptrace_scope is {scope}"
    if error == 0:
        return [Finding(MACHINE, "process_vm_readv", f"permitted; {yama}")]
    advice = (
        "Set kernel.yama.ptrace_scope to 1 or 0 (`sysctl kernel.yama.ptrace_scope=1`)."
        if scope is not None and scope > 1
        else "In a container, permit it: `docker run --cap-add SYS_PTRACE`, or a seccomp profile "
        "that allows process_vm_readv and process_vm_writev."
    )
    return [
        Finding(
            MACHINE,
            "process_vm_readv",
            f"forbidden ({os.strerror(error)}); {yama}",
            State.LIMITED,
            "Ranks of one node cannot copy each other's private memory: windows of MPI_Win_create "
            "and MPI_Win_create_dynamic are reached by messages, which take longer. Windows of "
            "MPI_Win_allocate are not concerned.",
            f"{advice} Or allocate windows by MPI_Win_allocate.",
        )
    ]


def memfd_error() -> int:
    """The errno of memfd_create; 0 if it works."""
    try:
        os.close(os.memfd_create("oriel-doctor"))
    except OSError as error:
        return error.errno or errno.EFAULT
    return 0


def _examine_memfd() -> list[Finding]:
    error = memfd_error()
    if error == 0:
        return [Finding(MACHINE, "memfd_create", "permitted")]
    return [
        Finding(
            MACHINE,
            "memfd_create",
            f"refused ({os.strerror(error)})",
            State.LIMITED,
            "Windows are shared through /dev/shm, and all of them together must fit into it.",
            "Permit memfd_create (a seccomp profile or a kernel before 3.17 refuses it), or make "
            "/dev/shm large enough.",
        )
    ]


def examine() -> list[Finding]:
    return _examine_process_vm() + _examine_memfd()
