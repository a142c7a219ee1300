# SPDX-License-Identifier: BSD-3-Clause
"""Duplicates and memory handles in Python."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import oriel
from mpi4py import MPI
from notified import raises


def check_a_duplicate_is_the_same_window(comm: MPI.Intracomm) -> None:
    """A lock through one handle holds for the other, which has info of its own; the parent may be
    freed first."""
    memory = np.zeros(2)
    parent = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    info = MPI.Info.Create({oriel.WIN_ORDER: "true", oriel.WIN_SCOPE: "thread"})
    copy = oriel.Win_dup_with_info(parent, info)
    info.Free()
    peer = 1 - comm.rank
    assert isinstance(copy, MPI.Win) and copy != parent
    used = copy.Get_info()
    assert (used[oriel.WIN_ORDER], used[oriel.WIN_SCOPE]) == ("true", "thread")
    assert parent.Get_info()[oriel.WIN_ORDER] == "false"
    parent.Lock_all()
    data = np.full(1, 3.0)
    copy.Put(data, peer)
    copy.Flush(peer)
    parent.Unlock_all()
    comm.Barrier()
    assert memory[0] == 3
    parent.Free()
    again = oriel.Win_dup_with_info(copy)
    copy.Free()
    oriel.Put_notify(again, data, peer, tag=1, target=1)
    oriel.Win_wait_notify(again, 1).Wait()
    assert memory[1] == 3
    again.Flush(peer)
    again.Free()


def check_an_error_on_a_duplicate_is_an_exception(comm: MPI.Intracomm) -> None:
    """It has the parent's error handler, which mpi4py has set to MPI.ERRORS_RETURN."""
    win = MPI.Win.Allocate(8, comm=comm)
    copy = oriel.Win_dup_with_info(win)
    error = raises(MPI.Exception, copy.Unlock, 0)
    assert error.Get_error_class() == MPI.ERR_RMA_SYNC
    copy.Free()
    win.Free()
    assert raises(MPI.Exception, oriel.Win_dup_with_info, win).Get_error_class() == MPI.ERR_WIN


def check_exposed_memory_lives_until_its_release(comm: MPI.Intracomm) -> None:
    """Nobody but the memory handle holds the array; another rank writes to it."""
    dynamic = MPI.Win.Create_dynamic(comm=comm)
    memory = weakref.ref(array := np.zeros(1000))
    mine = oriel.Memhandle_create(dynamic, array)
    del array
    gc.collect()
    theirs = comm.allgather(mine)[1 - comm.rank]
    peer = 1 - comm.rank
    there = oriel.Win_from_memhandle(dynamic, theirs, peer, 8000, disp_unit=8)
    dynamic.Lock_all()
    data = np.full(1000, 1.0 + comm.rank)
    oriel.Rrput(there, data, peer).Wait()
    comm.Barrier()
    array = memory()
    assert array is not None and (array == 1.0 + peer).all()
    del array
    oriel.Memhandle_release(dynamic, mine)
    assert memory() is None
    comm.Barrier()
    error = raises(MPI.Exception, put_and_flush, there, data, peer)
    assert error.Get_error_class() == MPI.ERR_RMA_RANGE
    dynamic.Unlock_all()
    there.Free()
    error = raises(MPI.Exception, oriel.Memhandle_release, dynamic, mine)
    assert error.Get_error_class() == MPI.ERR_ARG
    dynamic.Free()


def check_each_handle_keeps_its_own_memory(comm: MPI.Intracomm) -> None:
    """One array, exposed on two windows and twice on one: handles differ, and a release ends one
    of them."""
    windows = [MPI.Win.Create_dynamic(comm=comm) for _ in range(2)]
    memory = weakref.ref(array := np.zeros(8))
    used = [*windows, windows[0]]
    handles = [oriel.Memhandle_create(win, array) for win in used]
    del array
    assert len(set(handles)) == 3
    for win, memhandle in zip(used, handles):
        assert memory() is not None
        # A program may have received it in a buffer of the largest size.
        oriel.Memhandle_release(win, memhandle.ljust(oriel.MAX_MEMHANDLE_SIZE, b"\0"))
    assert memory() is None
    for win in windows:
        win.Free()


def check_the_end_of_a_block_releases_the_handle(comm: MPI.Intracomm) -> None:
    """Also where the block raises an exception, or has released the handle itself."""
    dynamic = MPI.Win.Create_dynamic(comm=comm)
    made: list[bytes] = []

    def release(memhandle: bytes) -> None:
        oriel.Memhandle_release(dynamic, memhandle)

    def use(early: bool, error: Exception | None) -> None:
        with oriel.memory_handle(dynamic, bytearray(8)) as memhandle:
            made.append(memhandle)
            if early:
                release(memhandle)
            if error is not None:
                raise error

    use(False, None)
    for early in (False, True):
        assert raises(KeyError, use, early, KeyError("mine")).args == ("mine",)
    assert raises(MPI.Exception, use, True, None).Get_error_class() == MPI.ERR_ARG
    for memhandle in made:
        assert raises(MPI.Exception, release, memhandle).Get_error_class() == MPI.ERR_ARG
    dynamic.Free()


def put_and_flush(win: MPI.Win, data: np.ndarray, target: int) -> None:
    win.Put(data, target)
    win.Flush(target)


def check_bytes_that_are_no_memory_handle(comm: MPI.Intracomm) -> None:
    """They are refused, whatever their length; so is a window that is not dynamic."""
    dynamic = MPI.Win.Create_dynamic(comm=comm)
    for size in (0, 5, oriel.MAX_MEMHANDLE_SIZE):
        error = raises(MPI.Exception, oriel.Win_from_memhandle, dynamic, bytes(size), comm.rank, 8)
        assert error.Get_error_class() == MPI.ERR_ARG
    raises(BufferError, oriel.Memhandle_create, dynamic, b"cannot be written")
    dynamic.Free()
    win = MPI.Win.Allocate(8, comm=comm)
    error = raises(MPI.Exception, oriel.Memhandle_create, win, bytearray(8))
    assert error.Get_error_class() == MPI.ERR_RMA_FLAVOR
    win.Free()


def check_what_is_intrinsic(comm: MPI.Intracomm) -> None:
    """An answer, and an error for a word that is no op."""
    win = MPI.Win.Allocate(8, comm=comm)
    assert not oriel.Win_op_intrinsic(win, "sum", 1, MPI.LONG_INT)
    error = raises(MPI.Exception, oriel.Win_op_intrinsic, win, "sum, prod", 1, MPI.INT)
    assert error.Get_error_class() == MPI.ERR_ARG
    win.Free()
