# SPDX-License-Identifier: BSD-3-Clause
"""Notification counters: an operation increments a counter at its target when it has taken effect
there.

Rules common to all calls:

- Each rank has its own number of counters on a window, with indices from 0: none before
  Win_set_num_notify.
- An operation names a counter of its target by `notification_idx`, and increments it by one when
  its data is visible at the target, or the memory that it has read may be overwritten.
- Operations do not block. Epochs, buffers and the requests of the functions R... are as in
  oriel.rma.notifications.
- Errors are raised as MPI.Exception: those of the operation in MPI, and the class
  Err_rma_notification() for an index that the rank does not have. On a window that Oriel does not
  implement: MPI.ERR_UNSUPPORTED_OPERATION. ValueError, TypeError and BufferError: as oriel.rma
  says.

Source: the MPI Forum's draft of notified communication (issue 59, section 12.6 of the draft of
MPI-5.1). The header oriel/notify_counters.h describes the calls in C.
"""

from __future__ import annotations

from mpi4py import MPI
from mpi4py.typing import BufSpec, TargetSpec

from oriel.rma.binding import ffi, function, invoke
from oriel.rma.constants import (
    WIN_NOTIFICATION_NUM_SB,
    WIN_NOTIFICATION_NUM_UB,
    WIN_NOTIFICATION_VALUE_UB,
)
from oriel.rma.operation import accumulate, get, get_accumulate, put
from oriel.rma.request import Request, request_of


def Err_rma_notification() -> int:
    """Returns the error class for an index that has no counter.

    Local; does not block; no errors. Source: see oriel.rma.counters.

    >>> try:
    ...     oriel.Win_get_notify_value(win, 0)
    ... except MPI.Exception as error:
    ...     error.Get_error_class() == oriel.Err_rma_notification()
    True
    """
    return int(function("ORIEL_Err_rma_notification")())


def Win_set_num_notify(win: MPI.Win, num: int, info: MPI.Info = MPI.INFO_NULL) -> None:
    """Sets how many counters the calling rank has, and all counters of all ranks to zero.

    Collective over the window's group. Blocks until all ranks have called it and all operations
    issued before have taken effect. No epoch may be open. The key of `info` is
    ASSERT_SAME_NUM_NOTIFICATIONS. A call that fails on one rank fails on all.

    Errors: MPI.ERR_ARG (the number is negative or above the window's limit), ERR_NO_MEM,
    ERR_RMA_SYNC (an epoch is open). Source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 2 + rank)
    >>> oriel.Win_get_num_notify(win, 1)
    3
    """
    invoke("ORIEL_Win_set_num_notify", win, info, num)


def Win_get_num_notify(win: MPI.Win, rank: int) -> int:
    """Returns how many counters a rank of the window's group has.

    Local; does not block. Errors: MPI.ERR_RANK, ERR_WIN. Source: see oriel.rma.counters.

    >>> oriel.Win_get_num_notify(win, peer)
    0
    """
    num = ffi.new("int *")
    invoke("ORIEL_Win_get_num_notify", win, rank, num)
    return int(num[0])


def notify_limits(win: MPI.Win) -> tuple[int, int, int]:
    """Returns the limits of counters on a window: the largest number of counters that stays cheap,
    the largest number, and the largest value of a counter.

    They are the window's attributes WIN_NOTIFICATION_NUM_SB, WIN_NOTIFICATION_NUM_UB and
    WIN_NOTIFICATION_VALUE_UB. Local; does not block. Errors: those of MPI.Win.Get_attr. Source: see
    oriel.rma.counters.

    >>> cheap, most, largest = oriel.notify_limits(win)
    >>> 0 < cheap <= most < largest
    True
    """
    kinds = ("int *", "int *", "MPI_Count *")
    keyvals = (WIN_NOTIFICATION_NUM_SB, WIN_NOTIFICATION_NUM_UB, WIN_NOTIFICATION_VALUE_UB)
    first, second, third = (
        int(ffi.cast(kind, win.Get_attr(keyval))[0]) for kind, keyval in zip(kinds, keyvals)
    )
    return first, second, third


def Win_get_notify_value(win: MPI.Win, notification_idx: int) -> int:
    """Returns the value of a counter of the calling rank.

    Does not block; a program may call it in a loop. The data of the operations that the counter has
    counted is visible. Errors: Err_rma_notification(), and MPI.ERR_OTHER in a loop, if a process of
    the window has ended. Source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> oriel.Win_get_notify_value(win, 0)
    0
    """
    value = ffi.new("MPI_Count *")
    invoke("ORIEL_Win_get_notify_value", win, notification_idx, value)
    return int(value[0])


def Win_set_notify_value(win: MPI.Win, notification_idx: int, value: int) -> None:
    """Sets a counter of the calling rank, while no operation can increment it.

    If an operation increments a counter that has the largest value (notify_limits), the value is
    undefined. Local; does not block. Errors: Err_rma_notification(), MPI.ERR_ARG (the value is
    negative). Source: Intel MPI's MPIX_Win_set_notify.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> oriel.Win_set_notify_value(win, 0, 40)
    >>> oriel.Win_get_notify_value(win, 0)
    40
    """
    invoke("ORIEL_Win_set_notify_value", win, notification_idx, value)


def Win_reset_notify_value(win: MPI.Win, notification_idx: int) -> int:
    """Sets a counter of the calling rank to zero, atomically, and returns its previous value.

    Does not block. No increment is lost. Errors: as of Win_get_notify_value. Source: see
    oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> oriel.Win_set_notify_value(win, 0, 40)
    >>> oriel.Win_reset_notify_value(win, 0), oriel.Win_get_notify_value(win, 0)
    (40, 0)
    """
    value = ffi.new("MPI_Count *")
    invoke("ORIEL_Win_reset_notify_value", win, notification_idx, value)
    return int(value[0])


def Win_get_notify_request(win: MPI.Win, notification_idx: int, threshold: int) -> Request:
    """Creates a request that completes when a counter of the calling rank has reached `threshold`.

    Local; does not block. The request is not persistent. With a threshold of zero or less it is
    complete at once. Errors: Err_rma_notification(). A wait raises MPI.ERR_OTHER if a process of
    the window has ended, and MPI.ERR_RMA_SYNC if the counter no longer exists. Source: Intel MPI's
    MPIX_Win_get_notify_request.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> data = np.full(1, 3.0)
    >>> oriel.Put_notify_counter(win, data, peer, 0)
    >>> oriel.Win_get_notify_request(win, 0, threshold=1).Wait()
    True
    >>> float(memory[0])
    3.0
    >>> win.Flush(peer)
    """
    return request_of(
        Request,
        "ORIEL_Win_get_notify_request",
        win,
        notification_idx,
        threshold,
    )


def Put_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
) -> None:
    """MPI.Win.Put that increments a counter of its target.

    Does not block. Errors and source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> data = np.full(1, 3.0)
    >>> oriel.Put_notify_counter(win, data, peer, 0)
    >>> while oriel.Win_get_notify_value(win, 0) < 1:
    ...     pass
    >>> float(memory[0])
    3.0
    >>> win.Flush(peer)
    """
    operation = put("ORIEL_Put_notify_counter_c", origin, target_rank, target)
    operation.issue(notification_idx, win)


def Get_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
) -> None:
    """MPI.Win.Get that increments a counter of its target: the memory read may be overwritten.

    Does not block. The data is in `origin` after a flush. Errors and source: see
    oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> fetched = np.ones(1)
    >>> oriel.Get_notify_counter(win, fetched, peer, 0)
    >>> win.Flush(peer)
    >>> float(fetched[0])
    0.0
    """
    operation = get("ORIEL_Get_notify_counter_c", origin, target_rank, target)
    operation.issue(notification_idx, win)


def Accumulate_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> None:
    """MPI.Win.Accumulate that increments a counter of its target.

    Does not block. Errors and source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> ones = np.ones(1)
    >>> oriel.Accumulate_notify_counter(win, ones, peer, 0)
    >>> oriel.Win_get_notify_request(win, 0, threshold=1).Wait()
    True
    >>> float(memory[0])
    1.0
    >>> win.Flush(peer)
    """
    operation = accumulate("ORIEL_Accumulate_notify_counter_c", origin, target_rank, target, op)
    operation.issue(notification_idx, win)


def Get_accumulate_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> None:
    """MPI.Win.Get_accumulate that increments a counter of its target, also with MPI.NO_OP.

    Does not block. What was at the target is in `result` after a flush. Errors and source: see
    oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> ones, before = np.ones(1), np.ones(1)
    >>> oriel.Get_accumulate_notify_counter(win, ones, before, peer, 0)
    >>> win.Flush(peer)
    >>> float(before[0])
    0.0
    """
    operation = get_accumulate(
        "ORIEL_Get_accumulate_notify_counter_c", origin, result, target_rank, target, op
    )
    operation.issue(notification_idx, win)


def Rput_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
) -> Request:
    """MPI.Win.Rput that increments a counter of its target.

    Does not block. Errors and source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> oriel.Rput_notify_counter(win, np.full(1, 3.0), peer, 0).Wait()
    True
    >>> oriel.Win_get_notify_request(win, 0, threshold=1).Wait()
    True
    >>> float(memory[0])
    3.0
    """
    operation = put("ORIEL_Rput_notify_counter_c", origin, target_rank, target)
    return operation.issue_with_request(notification_idx, win)


def Rget_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
) -> Request:
    """MPI.Win.Rget that increments a counter of its target: the memory read may be overwritten.

    Does not block. The data has arrived when the request is complete. Errors and source: see
    oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> fetched = np.ones(1)
    >>> oriel.Rget_notify_counter(win, fetched, peer, 0).Wait()
    True
    >>> float(fetched[0])
    0.0
    """
    operation = get("ORIEL_Rget_notify_counter_c", origin, target_rank, target)
    return operation.issue_with_request(notification_idx, win)


def Raccumulate_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Raccumulate that increments a counter of its target.

    Does not block. Errors and source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> oriel.Raccumulate_notify_counter(win, np.ones(1), peer, 0).Wait()
    True
    >>> oriel.Win_get_notify_request(win, 0, threshold=1).Wait()
    True
    >>> float(memory[0])
    1.0
    """
    operation = accumulate("ORIEL_Raccumulate_notify_counter_c", origin, target_rank, target, op)
    return operation.issue_with_request(notification_idx, win)


def Rget_accumulate_notify_counter(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    notification_idx: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Rget_accumulate that increments a counter of its target.

    Does not block. What was at the target is in `result` when the request is complete. Errors and
    source: see oriel.rma.counters.

    >>> oriel.Win_set_num_notify(win, 1)
    >>> before = np.ones(1)
    >>> oriel.Rget_accumulate_notify_counter(win, np.ones(1), before, peer, 0).Wait()
    True
    >>> float(before[0])
    0.0
    """
    operation = get_accumulate(
        "ORIEL_Rget_accumulate_notify_counter_c", origin, result, target_rank, target, op
    )
    return operation.issue_with_request(notification_idx, win)
