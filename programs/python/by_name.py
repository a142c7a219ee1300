# SPDX-License-Identifier: BSD-3-Clause
"""MPI by ctypes: each rank puts its number into the memory of its right neighbour. The arguments
are the libraries to open, none under `oriel run`. The functions are those of the process: Oriel's,
and the MPI library's that Oriel does not define."""

import ctypes
import sys

for library in sys.argv[1:]:
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
if hasattr(mpi, "ompi_mpi_comm_world"):  # Open MPI: handles are addresses
    Handle = ctypes.c_void_p
    address = ctypes.addressof
    WORLD = Handle(address(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
    INT = Handle(address(ctypes.c_char.in_dll(mpi, "ompi_mpi_int")))
    NO_INFO = Handle(address(ctypes.c_char.in_dll(mpi, "ompi_mpi_info_null")))
else:  # MPICH, Intel MPI: numbers
    Handle = ctypes.c_int
    WORLD, INT, NO_INFO = Handle(0x44000000), Handle(0x4C000405), Handle(0x1C000000)

Aint = ctypes.c_ssize_t
rank, ranks, win = ctypes.c_int(), ctypes.c_int(), Handle()
memory = ctypes.POINTER(ctypes.c_int)()

mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(ranks))
mpi.MPI_Win_allocate(Aint(4), 4, NO_INFO, WORLD, ctypes.byref(memory), ctypes.byref(win))

right = (rank.value + 1) % ranks.value
mpi.MPI_Win_fence(0, win)
mpi.MPI_Put(ctypes.byref(rank), 1, INT, right, Aint(0), 1, INT, win)
mpi.MPI_Win_fence(0, win)

left = (rank.value - 1) % ranks.value
assert memory[0] == left, f"rank {rank.value} has {memory[0]}"
print(f"ok: rank {rank.value} has the number of rank {left}", flush=True)

mpi.MPI_Win_free(ctypes.byref(win))
mpi.MPI_Finalize()
