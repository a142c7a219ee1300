# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking epochs in Python."""

from __future__ import annotations

import inspect
import re

import numpy as np
import oriel
from mpi4py import MPI
from notified import raises

LENGTH = 100_000
# How often a request is tested that must not be complete.
TESTS = 100


def check_a_late_target_does_not_block_the_origin(comm: MPI.Intracomm) -> None:
    """The origin opens and closes its epoch before the target exposes its memory. The data is too
    long for a copy that would complete the epoch at the origin, as MPI permits."""
    memory = np.zeros(LENGTH)
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    group = win.Get_group()
    data = np.arange(float(LENGTH))
    if comm.rank == 0:
        with oriel.istart_epoch(win, group.Incl([1])) as access:
            win.Put(data, 1)
        assert not access.Test()
        comm.send("go on", 1)
        assert access.Wait()
    else:
        comm.recv(source=0)
        with oriel.ipost_epoch(win, group.Incl([0])) as exposure:
            pass
        assert exposure.Wait()
        assert memory.tolist() == data.tolist()
    win.Free()


def check_several_pending_epochs(comm: MPI.Intracomm) -> None:
    """Epochs that are closed while another rank holds the lock complete in order, later. The lock
    is shared; those of the epochs are exclusive, by default."""
    win = MPI.Win.Allocate(8, comm=comm)
    memory = np.frombuffer(win.tomemory(), float)
    memory[0] = 0
    comm.Barrier()
    if comm.rank == 1:
        win.Lock(1, MPI.LOCK_SHARED)
        comm.Barrier()
        comm.Barrier()
        win.Unlock(1)
    else:
        comm.Barrier()
        epochs = [oriel.ilock_epoch(win, 1) for _ in range(5)]
        values = [np.full(1, float(each)) for each in range(5)]
        for epoch, value in zip(epochs, values):
            with epoch:
                win.Put(value, 1)
        assert not any(epoch.Test() for epoch in epochs * TESTS)
        comm.Barrier()
        MPI.Request.Waitall([epoch.request for epoch in epochs])
    comm.Barrier()
    if comm.rank == 1:
        win.Lock(1)
        assert memory[0] == 4
        win.Unlock(1)
    win.Free()


def check_blocking_and_nonblocking_calls_mix(comm: MPI.Intracomm) -> None:
    """An epoch that a nonblocking call has opened is closed by mpi4py's method, and vice versa; a
    flush in it covers what was issued before."""
    win = MPI.Win.Allocate(8, comm=comm)
    peer = 1 - comm.rank
    data, fetched = np.full(1, 1.5), np.zeros(1)
    oriel.Win_ilock(win, peer, MPI.LOCK_SHARED).Wait()
    win.Put(data, peer)
    win.Unlock(peer)
    win.Lock_all()
    comm.Barrier()
    win.Get(fetched, peer)
    for flush in (oriel.Win_iflush, oriel.Win_iflush_local):
        assert flush(win, peer).Wait()
    for flush_all in (oriel.Win_iflush_all, oriel.Win_iflush_local_all):
        assert flush_all(win).Wait()
    assert fetched[0] == 1.5
    oriel.Win_iunlock_all(win).Wait()
    win.Free()


def check_a_flush_waits_for_the_target(comm: MPI.Intracomm) -> None:
    """Rank 1 holds its lock, so that no operation is complete there. Between nodes the origin's
    buffer may be used again by then: that completes a local flush only."""
    win = MPI.Win.Allocate(8, 8, comm=comm)
    memory, data = np.frombuffer(win.tomemory(), float), np.full(1, 1.5)
    memory[0] = 0
    comm.Barrier()
    if comm.rank == 1:
        win.Lock(1)
        comm.Barrier()
        comm.Barrier()
        assert memory[0] == 0
        win.Unlock(1)
    else:
        comm.Barrier()
        oriel.Win_ilock_all(win).Wait()
        win.Put(data, 1)
        local = [oriel.Win_iflush_local(win, 1), oriel.Win_iflush_local_all(win)]
        flushes = [oriel.Win_iflush(win, 1), oriel.Win_iflush_all(win)]
        assert not any(flush.Test() for flush in flushes * TESTS)
        comm.Barrier()
        MPI.Request.Waitall(local + flushes)
        win.Unlock_all()
    comm.Barrier()
    win.Lock(comm.rank)
    assert memory[0] == 1.5 * comm.rank
    win.Unlock(comm.rank)
    win.Free()


def check_parameters_are_those_of_mpi4py(comm: MPI.Intracomm) -> None:
    """Names, order and defaults, after the window."""

    def parameters(call) -> list[tuple[str, object]]:
        found = list(inspect.signature(call).parameters.values())
        return [(each.name, each.default) for each in found[1:]]

    count = 0
    for name in dir(oriel):
        found = re.fullmatch(r"Win_i(\w+)|i(lock|lock_all|post|start)_epoch", name)
        if found:
            method = getattr(MPI.Win, found.group(found.lastindex).capitalize())
            assert parameters(getattr(oriel, name)) == parameters(method), name
            count += 1
    assert count == 17


def open_epoch(call, *arguments: object) -> None:
    made = call(*arguments)
    if isinstance(made, oriel.Epoch):
        made.__enter__()


def check_assertions(comm: MPI.Intracomm) -> None:
    """Each call hands its assertion on: one that belongs to another call is an error."""
    win = MPI.Win.Allocate(8, comm=comm)
    group = win.Get_group()
    for call, *arguments in (
        (oriel.Win_ifence, MPI.MODE_NOCHECK),
        (oriel.Win_ipost, group, MPI.MODE_NOSUCCEED),
        (oriel.Win_istart, group, MPI.MODE_NOSUCCEED),
        (oriel.Win_ilock, 0, MPI.LOCK_SHARED, MPI.MODE_NOSUCCEED),
        (oriel.Win_ilock_all, MPI.MODE_NOSUCCEED),
        (oriel.ipost_epoch, group, MPI.MODE_NOSUCCEED),
        (oriel.istart_epoch, group, MPI.MODE_NOSUCCEED),
        (oriel.ilock_epoch, 0, MPI.LOCK_SHARED, MPI.MODE_NOSUCCEED),
        (oriel.ilock_all_epoch, MPI.MODE_NOSUCCEED),
    ):
        error = raises(MPI.Exception, open_epoch, call, win, *arguments)
        assert error.Get_error_class() == MPI.ERR_ASSERT, call.__name__
    win.Free()


def check_a_fence_epoch_is_the_only_one(comm: MPI.Intracomm) -> None:
    """No operation precedes it, and none succeeds it."""
    win = MPI.Win.Allocate(8, comm=comm)
    data = np.zeros(1)
    win.Fence()
    win.Put(data, comm.rank)
    error = raises(MPI.Exception, oriel.ifence_epoch(win).__enter__)
    assert error.Get_error_class() == MPI.ERR_RMA_SYNC
    win.Fence(MPI.MODE_NOSUCCEED)
    with oriel.ifence_epoch(win) as fence:
        win.Put(data, comm.rank)
    fence.Wait()
    error = raises(MPI.Exception, win.Put, data, comm.rank)
    assert error.Get_error_class() == MPI.ERR_RMA_SYNC
    win.Free()


def check_requests_mix_with_those_of_mpi4py(comm: MPI.Intracomm) -> None:
    """One Waitall takes requests of Oriel and of the MPI library."""
    win = MPI.Win.Allocate(8, comm=comm)
    peer = 1 - comm.rank
    received, sent, data = np.zeros(1), np.full(1, 2.0), np.full(1, 3.0)
    requests = [comm.Irecv(received, peer), comm.Isend(sent, peer)]
    with oriel.ifence_epoch(win) as fence:
        win.Put(data, peer)
    statuses = [MPI.Status() for _ in range(3)]
    MPI.Request.Waitall([*requests, fence.request], statuses)
    assert received[0] == 2 and np.frombuffer(win.tomemory())[0] == 3
    assert not fence.request, "the request is null after Waitall"
    win.Free()


def check_an_exception_in_a_block_closes_the_epoch(comm: MPI.Intracomm) -> None:
    """The exception goes on, and the other rank's lock is granted."""
    win = MPI.Win.Allocate(8, comm=comm)
    epoch = oriel.ilock_epoch(win, 0)
    try:
        with epoch:
            raise KeyError("mine")
    except KeyError as error:
        assert error.args == ("mine",)
    else:
        raise AssertionError("the exception was lost")
    epoch.Wait()
    win.Free()


def check_an_exception_in_a_block_is_not_replaced(comm: MPI.Intracomm) -> None:
    """The block has closed the epoch itself, so that the end of the block cannot."""
    win = MPI.Win.Allocate(8, comm=comm)

    def fail(epoch: oriel.Epoch, error: Exception | None) -> None:
        with epoch:
            win.Unlock(0)
            if error is not None:
                raise error

    epoch = oriel.ilock_epoch(win, 0, MPI.LOCK_SHARED)
    assert raises(KeyError, fail, epoch, KeyError("mine")).args == ("mine",)
    assert "has not been closed" in str(raises(RuntimeError, epoch.Wait))
    error = raises(MPI.Exception, fail, oriel.ilock_epoch(win, 0, MPI.LOCK_SHARED), None)
    assert error.Get_error_class() == MPI.ERR_RMA_SYNC
    win.Free()


def check_an_epoch_is_used_in_order(comm: MPI.Intracomm) -> None:
    """A wait before the end of the block, or a second block, is refused with a sentence."""
    win = MPI.Win.Allocate(8, comm=comm)
    epoch = oriel.ilock_epoch(win, 0, MPI.LOCK_SHARED)
    with epoch:
        for early in (epoch.Wait, epoch.Test, lambda: epoch.request):
            assert "call Wait after the `with` block" in str(raises(RuntimeError, early))
        assert "make another one" in str(raises(RuntimeError, epoch.__enter__))
    epoch.Wait()
    assert "make another one" in str(raises(RuntimeError, epoch.__enter__))
    win.Free()


def check_errors_are_exceptions(comm: MPI.Intracomm) -> None:
    """An error code is MPI.Exception with MPI's class, and starts nothing."""
    win = MPI.Win.Allocate(8, comm=comm)
    for call, expected in (
        (lambda: oriel.Win_iunlock(win, 0), MPI.ERR_RMA_SYNC),
        (lambda: oriel.Win_ilock(win, 7), MPI.ERR_RANK),
        (lambda: oriel.Win_ilock(win, 0, lock_type=-77), MPI.ERR_LOCKTYPE),
        (lambda: oriel.Win_iflush_all(MPI.WIN_NULL), MPI.ERR_WIN),
    ):
        try:
            call()
        except MPI.Exception as error:
            assert error.Get_error_class() == expected, error
        else:
            raise AssertionError(f"no error of class {expected}")
    wrong = raises(TypeError, oriel.Win_iflush_all, comm)
    assert str(wrong) == "Win_iflush_all: `win` is of type Intracomm; give an MPI.Win."
    wrong = raises(TypeError, oriel.Win_ipost, win, win)
    assert str(wrong) == "Win_ipost: `group` is of type Win; give an MPI.Group."
    win.Free()
