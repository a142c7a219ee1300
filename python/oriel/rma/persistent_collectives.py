# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives by one-sided communication.

Rules common to all calls:

- A call is collective on `comm`, and blocks until all ranks have made it. Buffers are given as to
  the method of mpi4py's Comm with the same name, without _init.
- The call returns a persistent request that is inactive. Start does not block; a wait returns when
  all data for this rank has arrived and its send buffer may be reused. Several requests of one
  communicator may be active at the same time, and ranks may start them in different orders.
- Between Start and the end of the wait the program neither writes the send buffer nor accesses the
  receive buffer. The request keeps both alive until Free, which is local.
- The info key ALLTOALLV selects the algorithm.
- Errors in the arguments of any rank are errors on every rank, raised as MPI.Exception:
  MPI.ERR_COUNT, ERR_TYPE, ERR_ARG, ERR_BUFFER, ERR_TRUNCATE (a rank sends more than its receiver
  expects), ERR_COMM (an intercommunicator), ERR_INFO_VALUE, ERR_NO_MEM, ERR_OTHER (a rank has
  ended). No request is created then.
- ValueError, TypeError and BufferError, as oriel.rma says, are raised on this rank only. The other
  ranks wait in their call until this rank has made it with arguments that are right.

Source: "Analyzing Persistent Alltoallv RMA Implementations for High-Performance MPI Communication".
The header oriel/collectives.h describes the calls in C.
"""

from __future__ import annotations

from mpi4py import MPI
from mpi4py.typing import BufSpec, BufSpecB, BufSpecV, BufSpecW, InPlace

from oriel.rma.binding import Argument, ffi
from oriel.rma.buffer_spec import (
    BlockwiseSpec,
    BufferSpec,
    in_place,
    in_place_address,
    make_blockwise_spec,
    make_blockwise_spec_w,
    make_buffer_spec,
)
from oriel.rma.request import Prequest, request_of


def Alltoallv_init(
    comm: MPI.Comm,
    sendbuf: BufSpecV | InPlace,
    recvbuf: BufSpecV,
    info: MPI.Info = MPI.INFO_NULL,
) -> Prequest:
    """Creates a persistent request for Alltoallv: blocks of varying lengths from each rank to each.

    Counts are in elements, displacements in extents of the datatype. A rank may receive less than
    it expects. The info key ALLTOALLV_STARTS says how often the request will be started. Blocking
    behaviour, errors and source: see oriel.rma.persistent_collectives.

    >>> sent, received = np.arange(4.0) + 10 * rank, np.zeros(4)
    >>> counts = [3, 1] if rank == 0 else [1, 3]
    >>> with oriel.Alltoallv_init(comm, [sent, counts], [received, counts]) as exchange:
    ...     exchange.Start()
    ...     exchange.Wait()
    True
    >>> received.tolist() == ([0, 1, 2, 10] if rank == 0 else [3, 11, 12, 13])
    True
    """
    call = "ORIEL_Alltoallv_init_c"
    send, recv, size = *_buffers(call), _size(call, comm)
    sent = (
        _in_place(MPI.BYTE)
        if in_place(sendbuf)
        else make_blockwise_spec(send, sendbuf, False, size)
    )
    received = make_blockwise_spec(recv, recvbuf, True, size)
    return _create(call, sent, received, comm, info)


def Alltoall_init(
    comm: MPI.Comm,
    sendbuf: BufSpecB | InPlace,
    recvbuf: BufSpecB,
    info: MPI.Info = MPI.INFO_NULL,
) -> Prequest:
    """Creates a persistent request for Alltoall: blocks of one length from each rank to each.

    A count is that of one block. Blocking behaviour, errors and source: see
    oriel.rma.persistent_collectives.

    >>> sent, received = np.array([1, 2]) + 10 * rank, np.zeros(2, int)
    >>> with oriel.Alltoall_init(comm, sent, received) as exchange:
    ...     for step in range(3):
    ...         exchange.Start()
    ...         _ = exchange.Wait()
    >>> received.tolist() == [1 + rank, 11 + rank]
    True
    """
    call = "ORIEL_Alltoall_init_c"
    send, recv, size = *_buffers(call), _size(call, comm)
    sent = _in_place_block() if in_place(sendbuf) else make_buffer_spec(send, sendbuf, False, size)
    received = make_buffer_spec(recv, recvbuf, True, size)
    return _create(call, sent, received, comm, info)


def Alltoallw_init(
    comm: MPI.Comm,
    sendbuf: BufSpecW | InPlace,
    recvbuf: BufSpecW,
    info: MPI.Info = MPI.INFO_NULL,
) -> Prequest:
    """Creates a persistent request for Alltoallw: blocks of varying lengths and datatypes.

    Counts are in elements, displacements in bytes. Blocking behaviour, errors and source: see
    oriel.rma.persistent_collectives.

    >>> sent, received = np.array([1.0, 2.0]) + 10 * rank, np.zeros(2)
    >>> blocks = ([1, 1], [0, 8]), [MPI.DOUBLE, MPI.DOUBLE]
    >>> with oriel.Alltoallw_init(comm, [sent, *blocks], [received, *blocks]) as exchange:
    ...     exchange.Start()
    ...     exchange.Wait()
    True
    >>> received.tolist() == [1 + rank, 11 + rank]
    True
    """
    call = "ORIEL_Alltoallw_init_c"
    send, recv, size = *_buffers(call), _size(call, comm)
    sent = (
        _in_place(ffi.NULL)
        if in_place(sendbuf)
        else make_blockwise_spec_w(send, sendbuf, False, size)
    )
    received = make_blockwise_spec_w(recv, recvbuf, True, size)
    return _create(call, sent, received, comm, info)


def Allgatherv_init(
    comm: MPI.Comm,
    sendbuf: BufSpec | InPlace,
    recvbuf: BufSpecV,
    info: MPI.Info = MPI.INFO_NULL,
) -> Prequest:
    """Creates a persistent request for Allgatherv: a block from each rank to all ranks.

    Counts are in elements, displacements in extents. All ranks give the same number of bytes for
    the block of one rank, otherwise MPI.ERR_TRUNCATE. Blocking behaviour, other errors and source:
    see oriel.rma.persistent_collectives.

    >>> sent, received = np.full(1 + rank, 5.0 + rank), np.zeros(3)
    >>> with oriel.Allgatherv_init(comm, sent, [received, [1, 2]]) as gather:
    ...     gather.Start()
    ...     gather.Wait()
    True
    >>> received.tolist()
    [5.0, 6.0, 6.0]
    """
    call = "ORIEL_Allgatherv_init_c"
    send, recv, size = *_buffers(call), _size(call, comm)
    sent = _in_place_block() if in_place(sendbuf) else make_buffer_spec(send, sendbuf, False)
    received = make_blockwise_spec(recv, recvbuf, True, size)
    return _create(call, sent, received, comm, info)


def Neighbor_alltoallv_init(
    comm: MPI.Comm, sendbuf: BufSpecV, recvbuf: BufSpecV, info: MPI.Info = MPI.INFO_NULL
) -> Prequest:
    """Creates a persistent request for Neighbor_alltoallv: a block along each edge of the virtual
    topology of `comm`.

    Counts are in elements, displacements in extents; their order is that of the neighbours. Errors:
    MPI.ERR_TOPOLOGY (`comm` has no topology), and those of oriel.rma.persistent_collectives, which
    also says when the call blocks, and the source.

    >>> ring = comm.Create_cart([2], periods=[True])
    >>> sent, received = np.array([1.0, 2.0]) + 10 * rank, np.zeros(2)
    >>> with oriel.Neighbor_alltoallv_init(ring, sent, received) as exchange:
    ...     exchange.Start()
    ...     exchange.Wait()
    True
    >>> received.tolist() == [2 + 10 * peer, 1 + 10 * peer]
    True
    >>> ring.Free()
    """
    call = "ORIEL_Neighbor_alltoallv_init_c"
    send, recv = _buffers(call)
    indegree, outdegree = _degrees(call, comm)
    sent = make_blockwise_spec(send, sendbuf, False, outdegree)
    received = make_blockwise_spec(recv, recvbuf, True, indegree)
    return _create(call, sent, received, comm, info)


def Reduce_init(
    comm: MPI.Comm,
    sendbuf: BufSpec | InPlace,
    recvbuf: BufSpec | None,
    op: MPI.Op = MPI.SUM,
    root: int = 0,
    info: MPI.Info = MPI.INFO_NULL,
) -> Prequest:
    """Creates a persistent request for Reduce: elements of each rank, combined at the root.

    Ranks other than the root may give None as `recvbuf`. The result has the same bits in every use.
    A function of MPI.Op.Create is called within MPI calls of any thread of the process, and takes
    Python's global lock; if it is written in Python, only one thread of the process may call MPI.

    Errors: MPI.ERR_OP, ERR_ROOT, ERR_ARG (ranks differ in count, datatype or op), and those of
    oriel.rma.persistent_collectives, which also says when the call blocks, and the source.

    >>> total = np.zeros(2) if rank == 0 else None
    >>> with oriel.Reduce_init(comm, np.full(2, 1.5), total) as reduce:
    ...     reduce.Start()
    ...     reduce.Wait()
    True
    >>> rank != 0 or total.tolist() == [3.0, 3.0]
    True
    """
    call = "ORIEL_Reduce_init_c"
    send, recv = _buffers(call)
    if _rank(call, comm) == root:
        received = make_buffer_spec(recv, recvbuf, True)
        in_root = in_place(sendbuf)
        sent = _in_place_block() if in_root else make_buffer_spec(send, sendbuf, False)
        if not in_root and (sent.count, sent.datatype) != (received.count, received.datatype):
            raise ValueError(
                f"{recv} has another count or datatype than `sendbuf`; give the same ones."
            )
    else:
        sent = make_buffer_spec(send, sendbuf, False)
        received = BufferSpec(ffi.NULL, sent.count, sent.datatype)
    return request_of(
        Prequest,
        call,
        sent.address,
        *received.arguments(),
        op,
        root,
        comm,
        info,
        kept=(sent.kept, received.kept),
    )


def Bcast_init(
    comm: MPI.Comm, buf: BufSpec, root: int = 0, info: MPI.Info = MPI.INFO_NULL
) -> Prequest:
    """Creates a persistent request for Bcast: elements of the root to all ranks.

    Ranks may use different datatypes for the same number of bytes. Errors: MPI.ERR_TRUNCATE (the
    numbers of bytes differ), ERR_ROOT, and those of oriel.rma.persistent_collectives, which also
    says when the call blocks, and the source.

    >>> data = np.full(2, 7.0 - rank)
    >>> with oriel.Bcast_init(comm, data) as broadcast, oriel.started(broadcast):
    ...     pass
    >>> data.tolist()
    [7.0, 7.0]
    """
    call = "ORIEL_Bcast_init_c"
    spec = make_buffer_spec(Argument(call, "buf"), buf, _rank(call, comm) != root)
    return request_of(Prequest, call, *spec.arguments(), root, comm, info, kept=spec.kept)


def _buffers(call: str) -> tuple[Argument, Argument]:
    return Argument(call, "sendbuf"), Argument(call, "recvbuf")


def _rank(call: str, comm: MPI.Comm) -> int:
    Argument(call, "comm").require_kind(MPI.Comm, comm)
    return comm.Get_rank()


def _size(call: str, comm: MPI.Comm) -> int:
    Argument(call, "comm").require_kind(MPI.Comm, comm)
    return comm.Get_size()


def _in_place(datatypes: object) -> BlockwiseSpec:
    null = ffi.NULL
    return BlockwiseSpec(in_place_address(), null, null, datatypes)


def _in_place_block() -> BufferSpec:
    return BufferSpec(in_place_address(), 0, MPI.BYTE)


def _degrees(call: str, comm: MPI.Comm) -> tuple[int, int]:
    """How many incoming and outgoing neighbours the rank has; none without a topology."""
    Argument(call, "comm").require_kind(MPI.Comm, comm)
    if not isinstance(comm, MPI.Intracomm):
        return 0, 0
    kinds: dict[int, type[MPI.Topocomm]] = {
        MPI.CART: MPI.Cartcomm,
        MPI.GRAPH: MPI.Graphcomm,
        MPI.DIST_GRAPH: MPI.Distgraphcomm,
    }
    kind = kinds.get(comm.Get_topology())
    if kind is None:
        return 0, 0
    topology = kind(comm)
    return topology.indegree, topology.outdegree


def _create(
    call: str,
    sent: BufferSpec | BlockwiseSpec,
    received: BufferSpec | BlockwiseSpec,
    comm: MPI.Comm,
    info: MPI.Info,
) -> Prequest:
    return request_of(
        Prequest,
        call,
        *sent.arguments(),
        *received.arguments(),
        comm,
        info,
        kept=(sent.kept, received.kept),
    )
