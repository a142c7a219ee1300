# SPDX-License-Identifier: BSD-3-Clause
"""The calls of Oriel on windows, communicators and requests of mpi4py, which `import oriel` has.

A function has the name of the function in C without ORIEL_. Its first argument is the window or the
communicator; the others come in the order of mpi4py's methods, and a tag or a counter's index
follows the target's rank. What C returns through pointers is the result. Where C has a function
with large counts (ORIEL_x_c), Python calls that one.

Each call may also raise one of these exceptions, whose sentence names the call and the argument:

- TypeError: an argument is of a wrong type.
- BufferError: a buffer is not contiguous, or is read-only and the call writes to it.
- ValueError: an argument has no meaning or no value in C, such as an unknown datatype or a rank of
  more than 32 bits.
- RuntimeError: the library is not loaded into the process.

The call then has had no effect.

The examples in the documentation run on two ranks, each in a process of its own, in which

    comm = MPI.COMM_WORLD
    rank, peer = comm.rank, 1 - comm.rank
    memory = np.zeros(8)
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
"""

# Each name is listed once, in __all__.
# ruff: noqa: F403, F405

from oriel.rma import constants
from oriel.rma.constants import *
from oriel.rma.counters import *
from oriel.rma.epochs import *
from oriel.rma.notifications import *
from oriel.rma.persistent_collectives import *
from oriel.rma.remote_completion import *
from oriel.rma.request import *
from oriel.rma.version import *
from oriel.rma.window_handles import *

__all__ = [
    "Accumulate_notify",
    "Accumulate_notify_counter",
    "Allgatherv_init",
    "Alltoall_init",
    "Alltoallv_init",
    "Alltoallw_init",
    "Bcast_init",
    "Compare_and_swap_notify",
    "Epoch",
    "Err_rma_notification",
    "Fetch_and_op_notify",
    "Get_accumulate_notify",
    "Get_accumulate_notify_counter",
    "Get_notify",
    "Get_notify_counter",
    "Get_version",
    "Memhandle_create",
    "Memhandle_release",
    "Neighbor_alltoallv_init",
    "Notify_init",
    "Notify_iprobe",
    "Notify_probe",
    "Prequest",
    "Put_notify",
    "Put_notify_counter",
    "Raccumulate_notify",
    "Raccumulate_notify_counter",
    "Reduce_init",
    "Request",
    "Rget_accumulate_notify",
    "Rget_accumulate_notify_counter",
    "Rget_notify",
    "Rget_notify_counter",
    "Rput_notify",
    "Rput_notify_counter",
    "Rraccumulate",
    "Rrget_accumulate",
    "Rrput",
    "Win_dup_with_info",
    "Win_from_memhandle",
    "Win_get_notify_request",
    "Win_get_notify_value",
    "Win_get_num_notify",
    "Win_icomplete",
    "Win_ifence",
    "Win_iflush",
    "Win_iflush_all",
    "Win_iflush_local",
    "Win_iflush_local_all",
    "Win_ilock",
    "Win_ilock_all",
    "Win_ipost",
    "Win_istart",
    "Win_iunlock",
    "Win_iunlock_all",
    "Win_iwait",
    "Win_op_intrinsic",
    "Win_reset_notify_value",
    "Win_set_notify_value",
    "Win_set_num_notify",
    "Win_wait_notify",
    "ifence_epoch",
    "ilock_all_epoch",
    "ilock_epoch",
    "ipost_epoch",
    "istart_epoch",
    "memory_handle",
    "notify_limits",
    "started",
]
__all__ += constants.__all__
