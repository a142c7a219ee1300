# SPDX-License-Identifier: BSD-3-Clause
"""Heat spreads in a ring of cells, ten on each rank. In each step a rank puts its two edges into
its neighbours' windows and waits for theirs: no epoch, no flag and no barrier."""

import numpy as np
import oriel
from mpi4py import MPI

CELLS, STEPS, TAG = 10, 100, 1


def spread(cells, before, after):
    around = np.concatenate(([before], cells, [after]))
    return cells + 0.25 * (around[:-2] - 2 * cells + around[2:])


comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
left, right = (rank - 1) % ranks, (rank + 1) % ranks
whole = np.arange(CELLS * ranks) * 7.0 % 13  # to check the result
heat = whole[rank * CELLS : (rank + 1) * CELLS].copy()

# [exchange]
win = MPI.Win.Allocate(4 * 8, disp_unit=8, comm=comm)
halo = np.frombuffer(win.tomemory())  # from the left and from the right, for even and odd steps
arrived = [oriel.Notify_init(win, source, TAG) for source in (left, right)]
for step in range(STEPS):
    slot = 2 * (step % 2)  # a neighbour is at most one step ahead: it waits for us
    edges = heat[[0, -1]]
    MPI.Prequest.Startall(arrived)
    oriel.Put_notify(win, edges[:1], left, TAG, target=slot + 1)
    oriel.Put_notify(win, edges[1:], right, TAG, target=slot)
    MPI.Request.Waitall(arrived)  # both neighbours' edges are in our window
    win.Flush_local_all()  # our edges may be written again
    heat = spread(heat, *halo[slot : slot + 2])
for each in arrived:
    each.Free()
# [end]

for _ in range(STEPS):
    whole = spread(whole, whole[-1], whole[0])
assert np.allclose(heat, whole[rank * CELLS : (rank + 1) * CELLS])
print(f"ok: rank {rank} of {ranks}")
win.Free()
