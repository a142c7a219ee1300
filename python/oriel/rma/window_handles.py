# SPDX-License-Identifier: BSD-3-Clause
"""Duplicates (several handles of one window, each with its own info), memory handles (memory that
is exposed without a collective call), and a query for hardware atomics.

All calls are local: none waits for another process. Errors are raised as MPI.Exception; the call
then has had no effect. On a window that Oriel does not implement each call raises MPI.ERR_WIN.
ValueError, TypeError and BufferError: as oriel.rma says.

Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication", sections
2.3, 3 and 4. The header oriel/windows.h describes the calls in C.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mpi4py import MPI
from mpi4py.typing import Buffer

from oriel.rma.binding import Argument, ffi, invoke
from oriel.rma.buffer_spec import contiguous_memory
from oriel.rma.constants import MAX_MEMHANDLE_SIZE

# What keeps exposed memory alive, by memory handle, which has a number of its own.
_exposed: dict[bytes, object] = {}


def Win_dup_with_info(win: MPI.Win, info: MPI.Info = MPI.INFO_NULL) -> MPI.Win:
    """Creates another handle of the window `win`. The duplicate has the info of `win`, changed by
    the keys of `info`.

    Local; does not block. All handles share the memory, the epochs and the notifications; each has
    its own info, name, attributes and error handler. MPI.Win.Free is local as long as this process
    has another handle, and collective for the last one. The program keeps memory that it has given
    to MPI.Win.Create until the last handle has been freed: mpi4py releases its own reference when
    the first handle is freed.

    Errors: MPI.ERR_WIN, ERR_OTHER (the program has 131,072 windows). Source: section 3, Listing 4.

    >>> info = MPI.Info.Create({oriel.WIN_ORDER: "true"})
    >>> ordered = oriel.Win_dup_with_info(win, info)
    >>> ordered.Get_info()[oriel.WIN_ORDER]
    'true'
    >>> ordered.Free()
    >>> info.Free()
    """
    made = MPI.Win()
    invoke("ORIEL_Win_dup_with_info", win, info, made)
    return made


def Memhandle_create(win: MPI.Win, memory: Buffer, info: MPI.Info = MPI.INFO_NULL) -> bytes:
    """Exposes a contiguous buffer to the processes of the dynamic window `win`, and returns a
    memory handle: at most MAX_MEMHANDLE_SIZE bytes, which the program sends to other processes.

    Local; does not block. The buffer is kept alive until Memhandle_release. Oriel ignores `info`.

    Errors: MPI.ERR_WIN, ERR_RMA_FLAVOR (the window is not dynamic), ERR_SIZE, ERR_RMA_ATTACH (there
    is no space for another handle), ERR_ARG; BufferError: the buffer is read-only or not
    contiguous. Source: section 4.2, Listing 5.

    >>> dynamic = MPI.Win.Create_dynamic(comm=comm)
    >>> mine = np.zeros(4)
    >>> memhandle = oriel.Memhandle_create(dynamic, mine)
    >>> 0 < len(memhandle) <= oriel.MAX_MEMHANDLE_SIZE
    True
    >>> oriel.Memhandle_release(dynamic, memhandle)
    >>> dynamic.Free()
    """
    call = "ORIEL_Memhandle_create"
    block = contiguous_memory(Argument(call, "memory"), memory, writable=True)
    memhandle = ffi.new("char[]", MAX_MEMHANDLE_SIZE)
    used = ffi.new("int *")
    invoke(
        call,
        block.address,
        block.nbytes,
        info,
        win,
        memhandle,
        used,
    )
    made = bytes(ffi.buffer(memhandle, used[0]))
    _exposed[_padded(call, made)] = block.kept
    return made


def Win_from_memhandle(
    win: MPI.Win,
    memhandle: bytes,
    target: int,
    size: int,
    disp_unit: int = 1,
    info: MPI.Info = MPI.INFO_NULL,
) -> MPI.Win:
    """Creates a window on the first `size` bytes of memory that rank `target` has exposed by
    `memhandle` on the same dynamic window `win`.

    Local; does not block. Displacements are in units of `disp_unit` bytes. Operations may name the
    rank `target` only, within a lock or lock_all epoch of `win`; a flush of either window covers
    operations on both. MPI.Win.Free of the window is local and must come before that of `win`.

    Errors: MPI.ERR_WIN, ERR_RMA_FLAVOR, ERR_RANK, ERR_DISP, ERR_SIZE (larger than the exposed
    memory), ERR_ARG (no such handle), ERR_OTHER (the program has 131,072 windows). Source: section
    4.2, Listing 5.

    >>> dynamic = MPI.Win.Create_dynamic(comm=comm)
    >>> mine, data = np.zeros(4), np.full(1, 5.0)
    >>> with oriel.memory_handle(dynamic, mine) as memhandle:
    ...     theirs = comm.allgather(memhandle)[peer]
    ...     there = oriel.Win_from_memhandle(dynamic, theirs, peer, mine.nbytes, disp_unit=8)
    ...     dynamic.Lock_all()
    ...     there.Put(data, peer, 3)
    ...     there.Flush(peer)
    ...     dynamic.Unlock_all()
    ...     there.Free()
    ...     comm.Barrier()
    >>> float(mine[3])
    5.0
    >>> dynamic.Free()
    """
    made = MPI.Win()
    call = "ORIEL_Win_from_memhandle"
    invoke(
        call,
        _padded(call, memhandle),
        size,
        disp_unit,
        info,
        target,
        win,
        made,
    )
    return made


def Memhandle_release(win: MPI.Win, memhandle: bytes) -> None:
    """Ends the exposure of memory that this process has exposed by Memhandle_create on `win`.

    Local; does not block. All operations on the memory must be complete; later ones raise
    MPI.ERR_RMA_RANGE and store nothing. Errors: MPI.ERR_WIN, ERR_RMA_FLAVOR, ERR_ARG (no such
    handle, or it has been released). Source: section 4.2, Listing 5.

    >>> dynamic = MPI.Win.Create_dynamic(comm=comm)
    >>> memhandle = oriel.Memhandle_create(dynamic, bytearray(64))
    >>> oriel.Memhandle_release(dynamic, memhandle)
    >>> dynamic.Free()
    """
    call = "ORIEL_Memhandle_release"
    padded = _padded(call, memhandle)
    invoke(call, padded, win)
    _exposed.pop(padded, None)  # it may have been made in C


@contextlib.contextmanager
def memory_handle(win: MPI.Win, memory: Buffer, info: MPI.Info = MPI.INFO_NULL) -> Iterator[bytes]:
    """A `with` block in which a buffer is exposed: Memhandle_create and Memhandle_release.

    Local; does not block. Before the end of the block the program makes sure that no other process
    operates on the memory, for example by a barrier. Errors and source: those of the two calls. If
    the block raises an exception, an error of the release is dropped.

    >>> dynamic = MPI.Win.Create_dynamic(comm=comm)
    >>> with oriel.memory_handle(dynamic, np.zeros(4)) as memhandle:
    ...     print(type(memhandle).__name__)
    bytes
    >>> dynamic.Free()
    """
    memhandle = Memhandle_create(win, memory, info)
    try:
        yield memhandle
    except BaseException:
        # The block may have released it. The exception of the block is the cause.
        with contextlib.suppress(MPI.Exception):
            Memhandle_release(win, memhandle)
        raise
    Memhandle_release(win, memhandle)


def Win_op_intrinsic(win: MPI.Win, ops: str, max_count: int, datatype: MPI.Datatype) -> bool:
    """Says whether the calling process carries out certain accumulates on every rank's part of the
    window by hardware atomics, of its processor or of the network.

    `ops` is a list of words, separated by commas, without spaces: sum, prod, min, max, land, lor,
    lxor, band, bor, bxor, minloc, maxloc, no_op, replace, cas. The answer is for up to `max_count`
    contiguous elements of `datatype`. Local; does not block.

    Errors: MPI.ERR_ARG (a word is none of these), ERR_COUNT (max_count is negative), ERR_TYPE,
    ERR_WIN. Source: section 2.3.

    >>> allocated = MPI.Win.Allocate(8, comm=MPI.COMM_SELF)
    >>> oriel.Win_op_intrinsic(allocated, "sum,cas", 1, MPI.INT64_T)
    True
    >>> allocated.Free()
    """
    call = "ORIEL_Win_op_intrinsic"
    if not isinstance(ops, str):
        raise TypeError(f"{Argument(call, 'ops')} is of type {type(ops).__name__}; give a string.")
    flag = ffi.new("int *")
    invoke(call, ops.encode(), max_count, datatype, win, flag)
    return bool(flag[0])


def _padded(call: str, memhandle: bytes) -> bytes:
    """The handle as the library reads it, which may look at all bytes of the largest one."""
    argument = Argument(call, "memhandle")
    if not isinstance(memhandle, (bytes, bytearray, memoryview)):
        raise TypeError(f"{argument} is of type {type(memhandle).__name__}; give bytes.")
    if len(memhandle) > MAX_MEMHANDLE_SIZE:
        raise ValueError(
            f"{argument} has {len(memhandle)} bytes; give those that Memhandle_create has "
            f"returned, which are at most {MAX_MEMHANDLE_SIZE}."
        )
    return bytes(memhandle).ljust(MAX_MEMHANDLE_SIZE, b"\0")
