# SPDX-License-Identifier: BSD-3-Clause
"""Buffers live until their requests are complete."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import oriel
from mpi4py import MPI

# Too long for a copy that would complete the request before the data has left.
LENGTH = 100_000


def with_lock_held(
    comm: MPI.Intracomm, origin: Callable[[MPI.Win], None], before: float = 0
) -> None:
    """Calls `origin` on rank 0 with a window; rank 1's memory is full of `before`. Rank 1 holds its
    lock until it is sent a message. When `origin` has returned, it finds the first half of its
    memory full of 7."""
    win = MPI.Win.Allocate(2 * LENGTH * 8, 8, comm=comm)
    np.frombuffer(win.tomemory(), float)[:] = before
    comm.Barrier()
    if comm.rank == 1:
        win.Lock(1)
        comm.Barrier()
        comm.recv(source=0, tag=1)
        win.Unlock(1)
        comm.Barrier()
        assert (np.frombuffer(win.tomemory())[:LENGTH] == 7).all()
    else:
        comm.Barrier()
        origin(win)
        comm.Barrier()
    win.Free()


def pending_put(
    comm: MPI.Intracomm, finish: Callable[[list[oriel.Request], MPI.Win], None]
) -> None:
    """Rank 0 puts while rank 1 holds the lock. The list that `finish` is called with holds the only
    reference to the request, and the request the only one to the data."""

    def origin(win: MPI.Win) -> None:
        oriel.Win_ilock(win, 1).Wait()
        finish([oriel.Rput_notify(win, np.full(LENGTH, 7.0), 1, tag=1)], win)

    with_lock_held(comm, origin)


def data_of(request: oriel.Request) -> weakref.ref:
    return weakref.ref(request._kept.obj)


def let_go_and_unlock(comm: MPI.Intracomm, win: MPI.Win) -> None:
    """Memory that has been given back by mistake is used again before the put is carried out."""
    gc.collect()
    others = [np.zeros(LENGTH) for _ in range(5)]
    comm.send("let go", 1, tag=1)
    win.Unlock(1)
    del others


def check_a_request_keeps_its_buffer(comm: MPI.Intracomm) -> None:
    """The buffer is alive while the request is pending, and released by the wait."""

    def finish(requests: list[oriel.Request], win: MPI.Win) -> None:
        data = data_of(requests[0])
        assert not requests[0].Test()
        let_go_and_unlock(comm, win)
        assert data() is not None
        requests[0].Wait()
        assert data() is None

    pending_put(comm, finish)


def check_a_dropped_request_keeps_its_buffer(comm: MPI.Intracomm) -> None:
    """The program drops the request of an operation that is not complete."""

    def finish(requests: list[oriel.Request], win: MPI.Win) -> None:
        data, request = data_of(requests[0]), weakref.ref(requests[0])
        copy = MPI.Request(requests[0])
        requests.clear()
        assert request() is None
        let_go_and_unlock(comm, win)
        assert data() is not None
        copy.Wait()

    pending_put(comm, finish)


def check_a_request_keeps_what_it_reads_into(comm: MPI.Intracomm) -> None:
    """The buffer of a get, and origin and result of a get_accumulate, live while the request is
    pending. The get reads the half that the accumulate leaves alone: they have no order."""

    def origin(win: MPI.Win) -> None:
        oriel.Win_ilock(win, 1).Wait()
        arrays = [np.zeros(LENGTH), np.full(LENGTH, 2.0), np.zeros(LENGTH)]
        requests = [
            oriel.Rget_notify(win, arrays[0], 1, tag=1, target=LENGTH),
            oriel.Rget_accumulate_notify(win, arrays[1], arrays[2], 1, tag=1, op=MPI.SUM),
        ]
        alive = [weakref.ref(each) for each in arrays]
        arrays.clear()
        gc.collect()
        assert not any(request.Test() for request in requests)
        assert all(each() is not None for each in alive)
        got, result = alive[0](), alive[2]()
        let_go_and_unlock(comm, win)
        for request in requests:
            request.Wait()
        assert (got == 5).all() and (result == 5).all()
        assert alive[1]() is None

    with_lock_held(comm, origin, before=5)


def check_waitall_releases_with_the_request(comm: MPI.Intracomm) -> None:
    """After MPI.Request.Waitall the buffer is released when the request is dropped."""

    def finish(requests: list[oriel.Request], win: MPI.Win) -> None:
        data = data_of(requests[0])
        let_go_and_unlock(comm, win)
        MPI.Request.Waitall(requests)
        assert not requests[0]
        requests.clear()
        assert data() is None

    pending_put(comm, finish)


def check_an_operation_without_a_request_keeps_nothing(comm: MPI.Intracomm) -> None:
    """Why the program names the buffers of a nonblocking epoch: mpi4py's Put does not keep them,
    and neither does Put_notify."""
    win = MPI.Win.Allocate(8, 8, comm=comm)
    for put in (lambda data: win.Put(data, comm.rank), lambda data: put_notify(win, data)):
        data = weakref.ref(array := np.zeros(1))
        win.Lock(comm.rank)
        put(array)
        win.Unlock(comm.rank)
        del array
        assert data() is None
    win.Free()


def put_notify(win: MPI.Win, data: np.ndarray) -> None:
    oriel.Put_notify(win, data, MPI.PROC_NULL, tag=1)


def check_a_named_buffer_outlives_a_contended_epoch(comm: MPI.Intracomm) -> None:
    """Rank 0 opens and closes its epoch while rank 1 holds the lock: the put is carried out after
    the block has ended, from the array that the program has named."""

    def origin(win: MPI.Win) -> None:
        data = np.full(LENGTH, 7.0)
        with oriel.ilock_epoch(win, 1) as epoch:
            win.Put(data, 1)
        assert not epoch.Test()
        gc.collect()
        others = [np.zeros(LENGTH) for _ in range(5)]
        comm.send("let go", 1, tag=1)
        epoch.Wait()
        del others

    with_lock_held(comm, origin)


def check_a_collective_keeps_its_buffers_until_free(comm: MPI.Intracomm) -> None:
    """Both buffers of a persistent request are used by every start."""
    received = weakref.ref(array := np.zeros(2))
    exchange = oriel.Alltoall_init(comm, np.full(2, comm.rank + 1.0), array)
    del array
    for _ in range(3):
        gc.collect()
        exchange.Start()
        exchange.Wait()
    result = received()
    assert result is not None and result.tolist() == [1.0, 2.0]
    del result
    exchange.Free()
    assert received() is None


def check_a_bytearray_cannot_be_resized_while_it_is_used(comm: MPI.Intracomm) -> None:
    """Python itself refuses to move memory that a request keeps."""
    data = bytearray(16)
    broadcast = oriel.Bcast_init(comm, data)
    try:
        data.extend(b"more")
    except BufferError:
        pass
    else:
        raise AssertionError("the buffer was resized")
    broadcast.Free()
    data.extend(b"more")
