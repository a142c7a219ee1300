# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that a call cannot use: the exception's sentence names the call and the argument."""

from __future__ import annotations

import inspect
import re

import numpy as np
import oriel
from mpi4py import MPI
from notified import raises

ONE, TWO = np.zeros(1), np.zeros(2)
PEER, BIG = 1, 1 << 40
# An argument for each parameter without a default.
ARGUMENTS = {
    "compare": ONE,
    "datatype": MPI.INT,
    "group": MPI.GROUP_EMPTY,
    "max_count": 1,
    "memhandle": b"",
    "memory": bytearray(8),
    "notification_idx": 0,
    "num": 1,
    "ops": "sum",
    "origin": ONE,
    "rank": 0,
    "result": ONE,
    "size": 8,
    "tag": 1,
    "target": 0,
    "target_rank": 0,
    "threshold": 1,
    "value": 1,
}


def expect(kind: type[Exception], sentence: str, call, *arguments: object) -> None:
    said = str(raises(kind, call, *arguments))
    assert said.startswith(f"{call.__name__}: ") and sentence in said and said.endswith("."), said


def check_each_function_calls_its_own(comm: MPI.Intracomm) -> None:
    """The library's sentence names the function in C."""
    count = 0
    for name, call in inspect.getmembers(oriel, inspect.isfunction):
        first, *others = inspect.signature(call).parameters.values() or [None]
        if name[0].isupper() and first is not None and first.name == "win":
            arguments = [ARGUMENTS[each.name] for each in others if each.default is each.empty]
            error = raises(MPI.Exception, call, MPI.WIN_NULL, *arguments)
            assert error.Get_error_class() == MPI.ERR_WIN, name
            assert re.match(f"ORIEL_{name}(_c)?: ", str(error)), f"{name}: {error}"
            count += 1
    assert count > 40


def check_wrong_types(comm: MPI.Intracomm) -> None:
    win = MPI.Win.Allocate(64, 8, comm=comm)
    put, kind = oriel.Put_notify, TypeError
    expect(kind, "`win` is of type int; give an MPI.Win.", put, 3, ONE, PEER, 1)
    expect(kind, "`origin` is of type int, which has no buffer", put, win, 5, PEER, 1)
    expect(kind, "`origin` is of type ndarray", put, win, np.zeros(1, "M8[s]"), PEER, 1)
    expect(kind, "the count of `origin` is of type float", put, win, [ONE, 1.0], PEER, 1)
    expect(kind, "`tag` is of type str; give an integer.", put, win, ONE, PEER, "1")
    # mpi4py's Put takes both, as rank 1.
    for rank in (1.0, 1.5):
        expect(kind, "`target_rank` is of type float; give an integer.", put, win, ONE, rank, 1)
    expect(kind, "the displacement of `target` is of type float", put, win, ONE, PEER, 1, 1.5)
    expect(kind, "the count of `target` is of type str", put, win, ONE, PEER, 1, [0, "d"])
    expect(kind, "`op` is of type str", oriel.Accumulate_notify, win, ONE, PEER, 1, None, "sum")
    expect(kind, "`info` is of type dict; give an MPI.Info.", oriel.Win_set_num_notify, win, 1, {})
    expect(kind, "`status` is of type bool", oriel.Notify_iprobe, win, 0, 0, True)
    expect(kind, "`comm` is of type Win", oriel.Alltoall_init, win, TWO, TWO)
    expect(kind, "`comm` is of type Win", oriel.Reduce_init, win, TWO, TWO)
    expect(kind, "`comm` is of type int", oriel.Neighbor_alltoallv_init, 1, TWO, TWO)
    expect(kind, "the counts of `sendbuf` are of", oriel.Alltoallv_init, comm, [TWO, 1.0], TWO)
    for counts in ([1, "1"], np.ones(2)):
        wrong = [TWO, counts]
        expect(kind, "the count of `sendbuf` is of", oriel.Alltoallv_init, comm, wrong, TWO)
    expect(kind, "`ops` is of type bytes", oriel.Win_op_intrinsic, win, b"sum", 1, MPI.INT)
    expect(kind, "`datatype` is of type str", oriel.Win_op_intrinsic, win, "sum", 1, "d")
    expect(kind, "`memhandle` is of type int", oriel.Memhandle_release, win, 5)
    comm.Barrier()
    assert not oriel.Notify_iprobe(win)
    win.Free()


def check_wrong_values_of_operations(comm: MPI.Intracomm) -> None:
    win = MPI.Win.Allocate(64, 8, comm=comm)
    put, fetch, kind = oriel.Put_notify, oriel.Fetch_and_op_notify, ValueError
    expect(kind, "`origin` has the datatype 'none', which", put, win, [ONE, "none"], PEER, 1)
    expect(kind, "`origin` has the datatype None, which", put, win, None, PEER, 1)
    expect(kind, "`origin` is a list of 1; give a buffer", put, win, [ONE], PEER, 1)
    expect(kind, "`origin` has 7 bytes, no whole", put, win, [bytes(7), MPI.DOUBLE], PEER, 1)
    empty = MPI.DOUBLE.Create_resized(0, 0)
    expect(kind, "elements of a datatype with extent 0", put, win, [ONE, empty], PEER, 1)
    empty.Free()
    expect(kind, "the count of `origin` is -1", put, win, [ONE, -1], PEER, 1)
    expect(kind, "displacement of `origin` is -1", put, win, [ONE, 1, -1, "d"], PEER, 1)
    expect(kind, "displacement of `origin` is 2; the", put, win, [ONE, 1, 2, "d"], PEER, 1)
    expect(kind, "displacements of `origin` has 3 items", put, win, [ONE, (1, 2, 3)], PEER, 1)
    expect(kind, "`target` has the datatype [], which", put, win, ONE, PEER, 1, [0, 1, []])
    expect(kind, "`target` has 4 items; give [", put, win, ONE, PEER, 1, (0, 1, "d", 4))
    expect(kind, f"`tag` is {BIG}; C has 32 bits for it.", put, win, ONE, PEER, BIG)
    expect(kind, f"`target_rank` is {BIG}; C has 32", put, win, ONE, BIG, 1)
    expect(kind, f"`origin_count` is {1 << 70}; C has 64", put, win, [ONE, 1 << 70], PEER, 1)
    expect(kind, f"`rank` is {-BIG}; C has 32", oriel.Win_ilock, win, -BIG)
    expect(kind, "`result` has 2 elements; give a buffer of one", fetch, win, ONE, TWO, PEER, 1)
    integers = np.zeros(1, int)
    expect(kind, "`result` has another datatype than `origin`", fetch, win, ONE, integers, PEER, 1)
    long = bytes(oriel.MAX_MEMHANDLE_SIZE + 1)
    sentence = f"`memhandle` has {len(long)} bytes; give those that Memhandle_create has"
    expect(kind, sentence, oriel.Win_from_memhandle, win, long, 0, 8)
    expect(kind, sentence, oriel.Memhandle_release, win, long)
    comm.Barrier()
    assert not oriel.Notify_iprobe(win)
    win.Free()


def check_wrong_values_of_collectives(comm: MPI.Intracomm) -> None:
    """No other rank notices: rank 1 waits in its call until rank 0 has made it as it should."""
    three, kind = np.zeros(3), ValueError
    vector, general = oriel.Alltoallv_init, oriel.Alltoallw_init
    expect(kind, "`sendbuf` has 3 elements, which are not 2", oriel.Alltoall_init, comm, three, TWO)
    expect(kind, "`recvbuf` has 3 counts; give one for each", vector, comm, TWO, [TWO, [1, 1, 0]])
    expect(kind, "`sendbuf` has a count or displacement", vector, comm, [TWO, [1 << 70, 0]], TWO)
    expect(kind, "`sendbuf` has no datatypes; give [", general, comm, TWO, TWO)
    expect(kind, "`sendbuf` has no list of 2 datatypes", general, comm, [TWO, [MPI.DOUBLE]], TWO)
    expect(kind, "`recvbuf` has no list of 2 datatypes", general, comm, None, [TWO, MPI.DOUBLE])
    for what, pair in (("counts", (None, [0, 8])), ("displacements", ([1, 1], None))):
        blocks = [TWO, pair, [MPI.DOUBLE] * 2]
        no_list = f"the {what} of `recvbuf` are of type NoneType; give a list."
        expect(TypeError, no_list, general, comm, None, blocks)
    if comm.rank == 0:
        expect(kind, "`recvbuf` has another count or", oriel.Reduce_init, comm, ONE, TWO)
        expect(kind, "`recvbuf` has the datatype None", oriel.Reduce_init, comm, ONE, None)
    with oriel.Reduce_init(comm, np.full(1, 2.5), ONE.copy()) as reduce, oriel.started(reduce):
        pass
