# SPDX-License-Identifier: BSD-3-Clause
"""Notified access in Python, and the forms of buffers and targets."""

from __future__ import annotations

import array
import ctypes
import signal
import threading

import numpy as np
import oriel
from mpi4py import MPI


def raises(kind, call, *arguments, **named):
    """The exception that a call raises."""
    try:
        call(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"{call.__name__} raised no {kind.__name__}")


def check_producer_and_consumer(comm: MPI.Intracomm) -> None:
    """A hundred rounds of one double each way, by a persistent request and no other
    synchronization."""
    memory = np.zeros(2)
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    peer = 1 - comm.rank
    value = np.zeros(1)
    with oriel.Notify_init(win, peer, tag=1) as arrived:
        for step in range(100):
            if comm.rank == step % 2:
                value[0] = step
                oriel.Put_notify(win, value, peer, tag=1, target=step % 2)
                win.Flush_local(peer)
            else:
                status = MPI.Status()
                with oriel.started(arrived, status):
                    pass
                assert (status.source, status.tag) == (peer, 1)
                assert status.Get_count(MPI.DOUBLE) == 1
                assert memory[step % 2] == step
    comm.Barrier()
    win.Free()


def check_forms_of_buffers_and_targets(comm: MPI.Intracomm) -> None:
    """Each form that mpi4py's Put takes arrives as it does by Put."""
    memory, by_put = np.zeros(16), np.zeros(16)
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    other = MPI.Win.Create(by_put, disp_unit=8, comm=comm)
    peer = 1 - comm.rank
    pairs = MPI.DOUBLE.Create_vector(2, 1, 3).Commit()
    data = np.arange(1.0, 7.0)
    square = np.asfortranarray(np.arange(4.0).reshape(2, 2))
    forms = [
        (data, None),
        (data, 5),
        ([data, 3], 1),
        ([data, MPI.DOUBLE], 2),
        ([data, "d"], (2,)),
        ([data, 3, MPI.DOUBLE], [4, 3]),
        ([data, (2, 3), "d"], 9),
        ([data, 2, 1, MPI.DOUBLE], [7, 2, MPI.DOUBLE]),
        ((data, 2, MPI.DOUBLE), [3, 1, pairs]),
        ([data, 1, pairs], [10, 2, MPI.DOUBLE]),
        (array.array("d", [8.5]), 0),
        ((ctypes.c_double * 2)(9.5, 10.5), 1),  # its format is "<d"
        (bytes(np.full(1, 2.25)), [1, 8, MPI.BYTE]),
        (bytearray(np.full(1, 4.25)), [1, 1, MPI.DOUBLE]),
        (memoryview(data)[1:3], 12),
        (square, 8),
        ([None, 0, MPI.DOUBLE], 0),
        (np.zeros(0), 3),
    ]
    for tag, (origin, target) in enumerate(forms):
        other.Lock(peer)
        other.Put(origin, peer, target)
        other.Unlock(peer)
        oriel.Put_notify(win, origin, peer, tag, target)
        win.Flush(peer)
        oriel.Win_wait_notify(win, tag).Wait()
        comm.Barrier()
        other.Lock(comm.rank)
        assert memory.tolist() == by_put.tolist(), f"form {tag}: {memory} instead of {by_put}"
        other.Unlock(comm.rank)
        comm.Barrier()
    pairs.Free()
    win.Free()
    other.Free()


def check_types_of_numpy(comm: MPI.Intracomm) -> None:
    """The datatype of an array follows from its dtype: a sum of each type is right."""
    for dtype in ("i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16"):
        memory = np.ones(4, dtype)
        win = MPI.Win.Create(memory, disp_unit=memory.itemsize, comm=comm)
        comm.Barrier()
        data = np.arange(4).astype(dtype)
        oriel.Accumulate_notify(win, data, 1 - comm.rank, tag=0)
        win.Flush(1 - comm.rank)
        oriel.Win_wait_notify(win, 0).Wait()
        assert (memory == data + 1).all(), dtype
        win.Free()


def check_buffers_that_do_not_fit(comm: MPI.Intracomm) -> None:
    """The call is refused with Python's exceptions, and no notification is sent."""
    win = MPI.Win.Allocate(64, 8, comm=comm)
    peer = 1 - comm.rank
    apart = np.zeros((4, 4))[:, 1]
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    assert "not contiguous" in str(raises(BufferError, oriel.Put_notify, win, apart, peer, 1))
    assert "read-only" in str(raises(BufferError, oriel.Get_notify, win, fixed, peer, 1))
    raises(BufferError, oriel.Get_notify, win, b"12345678", peer, 1)
    comm.Barrier()
    assert not oriel.Notify_iprobe(win)
    win.Free()


def check_errors_of_mpi(comm: MPI.Intracomm) -> None:
    """A call with an argument that MPI refuses raises MPI.Exception with MPI's class."""
    win = MPI.Win.Allocate(64, 8, comm=comm)
    data = np.zeros(1)

    def error_class(call, *arguments, **named) -> int:
        return raises(MPI.Exception, call, *arguments, **named).Get_error_class()

    assert error_class(oriel.Put_notify, win, data, 0, tag=-5) == MPI.ERR_TAG
    assert error_class(oriel.Put_notify, win, data, 9, tag=5) == MPI.ERR_RANK
    assert error_class(oriel.Notify_init, win, expected_count=-1) == MPI.ERR_COUNT
    assert error_class(oriel.Win_wait_notify, win, tag=-5) == MPI.ERR_TAG
    assert error_class(oriel.Win_set_num_notify, win, -1) == MPI.ERR_ARG
    missing = error_class(oriel.Put_notify_counter, win, data, 0, 3)
    assert missing == oriel.Err_rma_notification()
    assert error_class(oriel.Rrput, win, data, 0) == MPI.ERR_RMA_SYNC
    win.Free()


def check_proc_null(comm: MPI.Intracomm) -> None:
    """An operation on MPI.PROC_NULL does nothing and completes."""
    win = MPI.Win.Allocate(64, 8, comm=comm)
    data = np.zeros(1)
    oriel.Put_notify(win, data, MPI.PROC_NULL, tag=1)
    oriel.Put_notify(win, [None, MPI.DOUBLE], MPI.PROC_NULL, tag=1)
    oriel.Rget_notify(win, data, MPI.PROC_NULL, tag=1).Wait()
    oriel.Fetch_and_op_notify(win, data, data, MPI.PROC_NULL, tag=1)
    win.Free()


def check_a_wait_lets_other_threads_run(comm: MPI.Intracomm) -> None:
    """A thread waits in Notify_probe; the other one, which Python's lock would hold up, sends what
    ends the wait."""
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    win = MPI.Win.Allocate(64, 8, comm=comm)
    waiting = threading.Event()
    found: list[bool] = []

    def wait() -> None:
        waiting.set()
        found.append(oriel.Notify_probe(win, comm.rank, tag=9))

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    data = np.zeros(1)
    oriel.Put_notify(win, data, comm.rank, tag=9)
    thread.join()
    assert found == [True]
    oriel.Win_wait_notify(win, 9).Wait()
    win.Flush_all()
    comm.Barrier()
    win.Free()


def poll_until_interrupted(request: MPI.Request) -> None:
    """Another thread interrupts this one after the first test."""
    tested = threading.Event()

    def interrupt() -> None:
        tested.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        while not request.Test():
            tested.set()
    finally:
        thread.join()


def check_an_interrupt_ends_a_loop_of_tests(comm: MPI.Intracomm) -> None:
    """So does a notebook interrupt a cell. The request is still active, and the data arrives."""
    memory, peer = np.zeros(2), 1 - comm.rank
    win = MPI.Win.Create(memory, disp_unit=memory.itemsize, comm=comm)
    persistent = oriel.Notify_init(win, source=peer, tag=0)
    persistent.Start()
    requests = [persistent, oriel.Win_wait_notify(win, tag=1)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    for request in requests:
        raises(KeyboardInterrupt, poll_until_interrupted, request)
    signal.signal(signal.SIGINT, before)
    comm.Barrier()
    data = np.array([5.0, 6.0])
    for tag in (0, 1):
        oriel.Put_notify(win, data[tag : tag + 1], peer, tag=tag, target=tag)
        requests[tag].Wait()
    assert memory.tolist() == data.tolist()
    win.Flush(peer)
    persistent.Free()
    win.Free()


def check_an_active_request_is_freed(comm: MPI.Intracomm) -> None:
    """The end of a `with` block frees an active request, which then takes no notification."""
    win = MPI.Win.Allocate(64, 8, comm=comm)
    with oriel.Notify_init(win, tag=4) as request:
        request.Start()
        assert not request.Test()
    assert request == MPI.REQUEST_NULL
    comm.Barrier()
    data = np.zeros(1)
    oriel.Put_notify(win, data, 1 - comm.rank, tag=4)
    oriel.Win_wait_notify(win, 4).Wait()
    win.Flush_all()
    win.Free()


def check_many_sources_and_counts(comm: MPI.Intracomm) -> None:
    """A request for 20 notifications from any rank, and a counter that has the same number."""
    memory = np.zeros(1, "i8")
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    oriel.Win_set_num_notify(win, 2)
    one = np.ones(1, "i8")
    with oriel.Notify_init(win, expected_count=20) as request:
        request.Start()
        for target in range(2):
            for step in range(10):
                oriel.Accumulate_notify(win, one, target, tag=step)
                oriel.Accumulate_notify_counter(win, one, target, 1)
        request.Wait()
    oriel.Win_get_notify_request(win, 1, threshold=20).Wait()
    assert memory[0] == 40
    assert oriel.Win_reset_notify_value(win, 1) == 20
    win.Flush_all()
    comm.Barrier()
    win.Free()
