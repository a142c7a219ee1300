# SPDX-License-Identifier: BSD-3-Clause
"""Every rank puts a block to every rank in each step. Counters at the target count the blocks; no
request is matched and no rank polls for each peer."""

import numpy as np
import oriel
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
peers = np.arange(ranks)


def block(origin, target, step):
    return origin + 100.0 * target + 10000.0 * step


win = MPI.Win.Allocate(2 * ranks * 8, disp_unit=8, comm=comm)
memory = np.frombuffer(win.tomemory())  # a block of every rank, for even and for odd steps
oriel.Win_set_num_notify(win, 2)  # collective: two counters on each rank
for step in range(20):
    parity = step % 2  # a peer is at most one step ahead: it waits for us
    half = parity * ranks
    sent = block(rank, peers, step)
    for peer in range(ranks):
        oriel.Put_notify_counter(win, sent[peer : peer + 1], peer, parity, target=half + rank)
    oriel.Win_get_notify_request(win, parity, threshold=(step // 2 + 1) * ranks).Wait()
    assert np.array_equal(memory[half : half + ranks], block(peers, rank, step))
    win.Flush_local_all()  # the blocks may be written again

print(f"ok: rank {rank} of {ranks}")
win.Free()
