# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives in Python: the same results as mpi4py's own collectives."""

from __future__ import annotations

import numpy as np
import oriel
from mpi4py import MPI
from notified import raises

# How often each request is started, with other data each time.
STARTS = 4


def counts_of(comm: MPI.Intracomm) -> tuple[list[int], list[int]]:
    """How much this rank sends to each, and receives from each."""
    matrix = [[1 + (3 * source + 5 * target) % 4 for target in range(2)] for source in range(2)]
    return matrix[comm.rank], [row[comm.rank] for row in matrix]


def check_alltoallv(comm: MPI.Intracomm) -> None:
    """In each form of counts and displacements, by each algorithm."""
    give, take = counts_of(comm)
    sent, received, expected = np.zeros(20), np.zeros(20), np.zeros(20)
    spread = ([give, [9, 0]], [take, [0, 9]])
    arrays = [tuple(np.array(each) for each in pair) for pair in spread]
    mixed = (take, np.array([0, 9]))
    halves = [2 - comm.rank] * 2
    forms = [
        ([sent[: sum(give)], give], [received, take], [expected, take]),
        ([sent, arrays[0][0]], [received, arrays[1][0]], [expected, arrays[1][0]]),
        ([sent, arrays[0]], [received, arrays[1]], [expected, arrays[1]]),
        ([sent, *arrays[0], "d"], [received, mixed], [expected, mixed]),
        # An odd number of elements: the first rank gets one more.
        (sent[:3], [received, halves], [expected, halves]),
        ([sent, tuple(spread[0])], [received, tuple(spread[1])], [expected, tuple(spread[1])]),
        (
            [sent, *spread[0], MPI.DOUBLE],
            [received, *spread[1], "d"],
            [expected, *spread[1], "d"],
        ),
    ]
    for algorithm in ("auto", "notified", "fence", "lock", "two_sided"):
        info = MPI.Info.Create({oriel.ALLTOALLV: algorithm})
        for send, receive, other in forms:
            with oriel.Alltoallv_init(comm, send, receive, info) as exchange:
                for step in range(STARTS):
                    sent[:] = np.arange(20) + 100 * comm.rank + 1000 * step
                    with oriel.started(exchange):
                        pass
                    comm.Alltoallv(send, other)
                    assert received.tolist() == expected.tolist(), (algorithm, step)
        info.Free()


def check_blocks_in_place(comm: MPI.Intracomm) -> None:
    """MPI.IN_PLACE, or None as mpi4py takes it, and blocks of a derived datatype."""
    data, expected = np.zeros(6), np.zeros(6)
    triple = MPI.DOUBLE.Create_contiguous(3).Commit()
    whole, vector = ([1, triple], [[3, 3]])
    general = [([1, 1], [0, 24]), [triple, triple]]
    for create, blocks in (
        (oriel.Alltoall_init, whole),
        (oriel.Alltoallv_init, vector),
        (oriel.Alltoallw_init, general),
    ):
        for in_place in (MPI.IN_PLACE, None):
            with create(comm, in_place, [data, *blocks]) as exchange:
                for step in range(STARTS):
                    data[:] = np.arange(6) + 10 * comm.rank + 100 * step
                    expected[:] = data
                    with oriel.started(exchange):
                        pass
                    comm.Alltoall(in_place, [expected, *whole])
                    assert data.tolist() == expected.tolist(), (create.__name__, in_place)
    triple.Free()
    gathered = np.zeros(2)
    gathered[comm.rank] = 1 + comm.rank
    with (
        oriel.Allgatherv_init(comm, None, [gathered, np.array([1, 1])]) as gather,
        oriel.started(gather),
    ):
        pass
    assert gathered.tolist() == [1, 2]


def check_alltoallw(comm: MPI.Intracomm) -> None:
    """Doubles to one rank, ints to the other; and datatypes that have the displacements, without
    counts."""
    types = [MPI.DOUBLE, MPI.INT64_T]
    sent = np.array([1.5 + comm.rank, 0.0])
    sent.view("i8")[1] = 7 + comm.rank
    received = np.zeros(2)
    mine = [types[comm.rank]] * 2
    send = [sent, ([1, 1], [0, 8]), types]
    with oriel.Alltoallw_init(comm, send, [received, [1, 1], [0, 8], mine]) as exchange:
        exchange.Start()
        exchange.Wait()
    if comm.rank == 0:
        assert received.tolist() == [1.5, 2.5]
    else:
        assert received.view("i8").tolist() == [7, 8]
    parts = [MPI.DOUBLE.Create_subarray([2], [1], [each]).Commit() for each in range(2)]
    sent[:] = [1.5 + comm.rank, 3.5 + comm.rank]
    for nothing in ([], [(None, None)], [None, None]):
        received[:] = 0
        blocks = [*nothing, parts]
        with oriel.Alltoallw_init(comm, [sent, *blocks], [received, *blocks]) as exchange:
            exchange.Start()
            exchange.Wait()
        assert received.tolist() == [1.5 + 2 * comm.rank, 2.5 + 2 * comm.rank]
    for part in parts:
        part.Free()


def check_neighbours(comm: MPI.Intracomm) -> None:
    """A graph in which rank 0 has two edges to rank 1, and rank 1 one to rank 0 and one to
    itself."""
    targets = [[1, 1], [0, 1]][comm.rank]
    sources = [[1], [0, 0, 1]][comm.rank]
    graph = comm.Create_dist_graph_adjacent(sources, targets)
    sent = np.arange(2.0) + 10 * comm.rank
    received, expected = np.zeros(len(sources)), np.zeros(len(sources))
    with oriel.Neighbor_alltoallv_init(graph, sent, received) as exchange:
        for _ in range(STARTS):
            received[:] = 0
            exchange.Start()
            exchange.Wait()
            graph.Neighbor_alltoallv(sent, expected)
            assert received.tolist() == expected.tolist()
    graph.Free()
    error = raises(MPI.Exception, oriel.Neighbor_alltoallv_init, comm, sent, received)
    assert error.Get_error_class() == MPI.ERR_TOPOLOGY


def check_reduce(comm: MPI.Intracomm) -> None:
    """With predefined ops, in place at the root, and with a function of the program in Python."""
    sent, received = np.zeros(3), np.zeros(3)
    for op, root in ((MPI.SUM, 0), (MPI.MAX, 1)):
        with oriel.Reduce_init(comm, sent, received, op, root) as reduce:
            for step in range(STARTS):
                sent[:] = [comm.rank, step, -1]
                reduce.Start()
                reduce.Wait()
                if comm.rank == root:
                    expected = [1, 2 * step, -2] if op == MPI.SUM else [1, step, -1]
                    assert received.tolist() == expected
    data = np.zeros(3)
    for in_place in (MPI.IN_PLACE, None):
        data[:] = 2.0 + comm.rank
        arguments = (in_place, data) if comm.rank == 0 else (data, None)
        with oriel.Reduce_init(comm, *arguments, op=MPI.PROD) as reduce:
            reduce.Start()
            reduce.Wait()
        assert comm.rank != 0 or data.tolist() == [6, 6, 6]

    def larger(first: MPI.buffer, second: MPI.buffer, datatype: MPI.Datatype) -> None:
        into = np.frombuffer(second)
        np.maximum(np.frombuffer(first), into, out=into)

    own = MPI.Op.Create(larger, commute=True)
    sent[:] = [comm.rank, 1 - comm.rank, 5]
    with oriel.Reduce_init(comm, sent, received, own) as reduce:
        reduce.Start()
        reduce.Wait()
    own.Free()
    assert comm.rank != 0 or received.tolist() == [1, 1, 5]


def check_broadcast_of_constants(comm: MPI.Intracomm) -> None:
    """The root's buffer is only read."""
    data = b"constant" if comm.rank == 0 else bytearray(8)
    with oriel.Bcast_init(comm, data) as broadcast, oriel.started(broadcast):
        pass
    assert bytes(data) == b"constant"


def check_startall_with_requests_of_mpi4py(comm: MPI.Intracomm) -> None:
    """Several requests are active at the same time, in other orders on each rank."""
    peer = 1 - comm.rank
    data, received, message = np.full(2, 1.0 + comm.rank), np.zeros(2), np.zeros(1)
    requests = [
        oriel.Bcast_init(comm, data),
        oriel.Alltoall_init(comm, np.full(2, 5.0 + comm.rank), received),
        comm.Recv_init(message, peer),
        comm.Send_init(np.full(1, 8.0), peer),
    ]
    order = requests if comm.rank == 0 else requests[::-1]
    MPI.Prequest.Startall(order)
    MPI.Request.Waitall(order)
    assert data.tolist() == [1, 1] and received.tolist() == [5, 6] and message[0] == 8
    for request in requests:
        request.Free()


def check_errors_are_those_of_every_rank(comm: MPI.Intracomm) -> None:
    """Rank 0 sends more than rank 1 expects: both raise, and the communicator stays usable."""
    sent, received = np.zeros(4), np.zeros(4)
    give = [2, 2]
    take = [2, 2] if comm.rank == 0 else [1, 2]
    error = raises(MPI.Exception, oriel.Alltoallv_init, comm, [sent, give], [received, take])
    assert error.Get_error_class() == MPI.ERR_TRUNCATE
    info = MPI.Info.Create({oriel.ALLTOALLV: "no such algorithm"})
    error = raises(MPI.Exception, oriel.Alltoall_init, comm, sent, received, info)
    assert error.Get_error_class() == MPI.ERR_INFO_VALUE
    info.Free()
    error = raises(MPI.Exception, oriel.Bcast_init, comm, sent, root=5)
    assert error.Get_error_class() == MPI.ERR_ROOT
    with oriel.Bcast_init(comm, sent) as broadcast, oriel.started(broadcast):
        pass


def check_the_end_of_a_block_frees_the_request(comm: MPI.Intracomm) -> None:
    """Also where the block raises an exception, which goes on. A collective that is active cannot
    be freed."""
    data = np.zeros(2)
    kept: list[MPI.Prequest] = []

    def use(start: bool, error: Exception | None) -> None:
        with oriel.Bcast_init(comm, data) as request:
            kept.append(request)
            if start:
                request.Start()
            if error is not None:
                raise error

    raises(KeyError, use, False, KeyError("mine"))
    assert kept[0] == MPI.REQUEST_NULL
    raises(KeyError, use, True, KeyError("mine"))
    assert raises(MPI.Exception, use, True, None).Get_error_class() == MPI.ERR_REQUEST
    for request in kept[1:]:
        request.Wait()
        request.Free()
