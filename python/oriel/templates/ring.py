"""The ranks form a ring. Each rank passes on what has arrived from its left neighbour, until every
rank has had the values of all ranks, and adds them up. A notified put writes a value into the
right neighbour's window and notifies that rank, which waits for the notification: there is no
epoch, no flag and no barrier."""

import sys

import oriel
from mpi4py import MPI

TAG = 1

comm = MPI.COMM_WORLD
left = (comm.rank - 1) % comm.size
right = (comm.rank + 1) % comm.size

# An element for each step: a left neighbour that is ahead of us overwrites nothing.
win = MPI.Win.Allocate(8 * comm.size, disp_unit=8, comm=comm)
values = memoryview(win.tomemory()).cast("q")  # integers of 8 bytes; numpy.frombuffer does as well

values[0] = total = comm.rank
with oriel.Notify_init(win, source=left, tag=TAG) as arrived:  # made once, started for each step
    for step in range(1, comm.size):
        arrived.Start()
        oriel.Put_notify(win, values[step - 1 : step], right, tag=TAG, target=step)
        arrived.Wait()  # values[step] is here
        total += values[step]
win.Flush_local_all()  # our puts have read `values`, which goes with the window
win.Free()

right_sum = total == comm.size * (comm.size - 1) // 2
print(
    "ok" if right_sum else "wrong", f": rank {comm.rank} of {comm.size} has the sum {total}", sep=""
)
sys.exit(not right_sum)
