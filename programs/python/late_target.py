# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 is late: it exposes its memory after 100 ms of other work. Rank 0 puts into that memory,
and has 100 ms of work that needs no answer. It closes its epoch once by the blocking call and once
by the nonblocking one."""

import time

import numpy as np
import oriel
from mpi4py import MPI


def work():
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        pass


comm = MPI.COMM_WORLD
win = MPI.Win.Allocate(8, disp_unit=8, comm=comm)
memory = np.frombuffer(win.tomemory())
peer = win.Get_group().Incl([1 - comm.rank])

major, minor, _ = oriel.Get_version()  # the first call loads the binding
if comm.rank == 0:
    print(f"Oriel {major}.{minor}")

for way in ("blocking", "nonblocking"):
    data = np.full(1, float(len(way)))
    comm.Barrier()
    begin = time.perf_counter()
    if comm.rank == 1:
        work()  # late
        win.Post(peer)
        win.Wait()
        assert memory[0] == data[0]
    elif way == "blocking":
        win.Start(peer)
        win.Put(data, 1)
        win.Complete()  # waits for rank 1
        work()
    else:
        opened = oriel.Win_istart(win, peer)
        win.Put(data, 1)
        closed = oriel.Win_icomplete(win)  # does not wait
        work()
        MPI.Request.Waitall([opened, closed])  # rank 1 has the data; ours may be changed
    if comm.rank == 0:
        print(f"{way:<12}{time.perf_counter() - begin:.3f} s")

print(f"ok: rank {comm.rank}")
win.Free()
