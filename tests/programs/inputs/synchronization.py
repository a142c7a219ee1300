# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py.util.sync: a counter, a lock, a condition and a semaphore between ranks, all of them
windows of mpi4py's."""

from mpi4py import MPI
from mpi4py.util.sync import Condition, Counter, Mutex, Semaphore, Sequential

ROUNDS = 300

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
faults = 0

# Each number is drawn once.
counter = Counter(0, comm=comm)
drawn = [next(counter) for _ in range(ROUNDS)]
everybody = sorted(number for ranks in comm.allgather(drawn) for number in ranks)
faults += everybody != list(range(ROUNDS * size))
counter.free()

# What a lock guards is read and written without an atomic operation.
window = MPI.Win.Allocate(8, 8, comm=comm)
memory = window.tomemory()
memory.cast("q")[0] = 0
comm.Barrier()
mutex = Mutex(comm=comm)
for _ in range(ROUNDS):
    with mutex:
        value = bytearray(8)
        window.Lock(0)
        window.Get(value, 0)
        window.Unlock(0)
        number = int.from_bytes(value, "little") + 1
        window.Lock(0)
        window.Put(number.to_bytes(8, "little"), 0)
        window.Unlock(0)
comm.Barrier()
if rank == 0:
    window.Lock(0)
    faults += memory.cast("q")[0] != ROUNDS * size
    window.Unlock(0)
mutex.free()

# No more than two ranks are inside.
inside = Counter(0, comm=comm)
semaphore = Semaphore(min(2, size), comm=comm)
for _ in range(ROUNDS // 10):
    with semaphore:
        faults += inside.next(1) >= 2
        inside.next(-1)
semaphore.free()
inside.free()

# Every rank but 0 waits until it is notified.
condition = Condition(comm=comm)
waiting = Counter(0, comm=comm)
if rank == 0:
    told = False
    while not told:
        with condition:
            told = waiting.next(0) == size - 1
            if told:
                condition.notify_all()
else:
    with condition:
        waiting.next(1)
        condition.wait()
waiting.free()
condition.free()

with Sequential(comm):
    pass
window.Free()
faults = comm.allreduce(int(faults))
if rank == 0:
    print("synchronization: all right" if faults == 0 else f"synchronization: {faults} faults")
