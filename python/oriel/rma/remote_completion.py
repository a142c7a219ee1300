# SPDX-License-Identifier: BSD-3-Clause
"""Operations whose request completes when the operation is complete at the target as well.

A process that receives a message sent after that finds the data in the target's window; no flush is
needed. Rules common to all calls:

- The arguments are those of mpi4py's method with one R less. No call blocks.
- The calls are permitted in lock and lock_all epochs, otherwise they raise MPI.ERR_RMA_SYNC. Other
  errors are those of MPI.Win.Rput, MPI.Win.Raccumulate and MPI.Win.Rget_accumulate, and
  MPI.ERR_WIN for a window that Oriel does not implement. An operation that fails after its call has
  returned makes its request fail, with MPI.ERR_OTHER if the target has ended. ValueError, TypeError
  and BufferError: as oriel.rma says.
- The request keeps the buffers alive, as oriel.Request says. It cannot be freed or cancelled.

Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication", section
5.2. The header oriel/remote_completion.h describes the calls in C.
"""

from __future__ import annotations

from mpi4py import MPI
from mpi4py.typing import BufSpec, TargetSpec

from oriel.rma.operation import accumulate, get_accumulate, put
from oriel.rma.request import Request


def Rrput(
    win: MPI.Win, origin: BufSpec, target_rank: int, target: TargetSpec | None = None
) -> Request:
    """MPI.Win.Rput whose request completes when the data is in the target's memory.

    Does not block. Errors and source: see oriel.rma.remote_completion.

    >>> with oriel.ilock_all_epoch(win) as epoch:
    ...     _ = oriel.Rrput(win, np.full(1, 4.0), peer).Wait()
    ...     comm.Barrier()
    ...     print(memory[0])
    4.0
    >>> epoch.Wait()
    True
    """
    operation = put("ORIEL_Rrput_c", origin, target_rank, target)
    return operation.issue_with_request(win)


def Rraccumulate(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Raccumulate whose request completes when the update has been made at the target.

    Does not block. Errors and source: see oriel.rma.remote_completion.

    >>> win.Lock_all()
    >>> oriel.Rraccumulate(win, np.full(1, 4.0), peer).Wait()
    True
    >>> comm.Barrier()
    >>> win.Unlock_all()
    >>> float(memory[0])
    4.0
    """
    operation = accumulate("ORIEL_Rraccumulate_c", origin, target_rank, target, op)
    return operation.issue_with_request(win)


def Rrget_accumulate(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Rget_accumulate whose request completes when the old values have arrived and the
    update has been made at the target.

    Does not block. Errors and source: see oriel.rma.remote_completion.

    >>> win.Lock_all()
    >>> before = np.ones(1)
    >>> oriel.Rrget_accumulate(win, np.full(1, 4.0), before, peer).Wait()
    True
    >>> float(before[0])
    0.0
    >>> win.Unlock_all()
    """
    operation = get_accumulate("ORIEL_Rrget_accumulate_c", origin, result, target_rank, target, op)
    return operation.issue_with_request(win)
