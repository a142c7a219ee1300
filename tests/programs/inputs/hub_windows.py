# SPDX-License-Identifier: BSD-3-Clause
"""mpi-sppy's windows between cylinders: each rank puts its newest vector into its own window, and
the others get it, without waiting. A vector that is got is one that was put: all of one round."""

import numpy as np
from mpisppy import MPI
from mpisppy.cylinders.spwindow import Field, SPWindow, padded_len_n_doubles

LENGTH, ROUNDS = 1000, 500

comm = MPI.COMM_WORLD
padded = padded_len_n_doubles(LENGTH)
window = SPWindow({Field.NONANTS_VALS: (LENGTH, padded)}, comm)
mine, other = np.empty(padded), np.empty(padded)
newest = np.zeros(comm.size)
mine[:] = comm.rank
window.put(mine, Field.NONANTS_VALS)
comm.Barrier()
faults = 0
for number in range(1, ROUNDS + 1):
    mine[:] = number * comm.size + comm.rank
    window.put(mine, Field.NONANTS_VALS)
    peer = (comm.rank + number) % comm.size
    window.get(other, peer, Field.NONANTS_VALS)
    faults += not (other == other[0]).all() or other[0] % comm.size != peer
    faults += other[0] < newest[peer]
    newest[peer] = other[0]
comm.Barrier()
for peer in range(comm.size):
    window.get(other, peer, Field.NONANTS_VALS)
    faults += other[0] != ROUNDS * comm.size + peer
comm.Barrier()
window.free()
faults = comm.allreduce(int(faults))
if comm.rank == 0:
    print("hub windows: all right" if faults == 0 else f"hub windows: {faults} faults")
