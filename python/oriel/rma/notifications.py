# SPDX-License-Identifier: BSD-3-Clause
"""Notified access by tags: an operation notifies its target when it has taken effect there, and the
target waits for notifications by requests.

Rules common to all operations:

- An operation does not block. Its arguments are those of mpi4py's method of the same name, and a
  tag from 0 to NOTIFY_TAG_UB.
- When the notification has arrived, the data of a write is visible in the target's memory, and the
  memory of a read may be overwritten.
- An operation belongs to the open epoch that covers its target. Where none does, it needs no epoch,
  starts at once and ignores locks.
- The origin's buffers may be reused after MPI.Win.Flush_local, or after the call that closes the
  epoch; the program keeps them alive until then, as for MPI.Win.Put. A function R... returns a
  request instead, which keeps the buffers alive and completes when they may be reused. It does not
  say that the notification has arrived.
- Errors are raised as MPI.Exception: those of the operation in MPI, and MPI.ERR_TAG for a negative
  tag. The functions R... raise MPI.ERR_RMA_SYNC in fence and access epochs. After an error no data
  has moved and no notification is sent. ValueError, TypeError and BufferError: as oriel.rma says.

Source: "Notified Access: Extending Remote Memory Access Programming Models for Producer-Consumer
Synchronization", section III. The header oriel/notify.h describes the calls in C.
"""

from __future__ import annotations

from mpi4py import MPI
from mpi4py.typing import BufSpec, TargetSpec

from oriel.rma.binding import ffi, invoke
from oriel.rma.operation import accumulate, get, get_accumulate, put, single_elements
from oriel.rma.request import Prequest, Request, request_of


def Put_notify(
    win: MPI.Win, origin: BufSpec, target_rank: int, tag: int, target: TargetSpec | None = None
) -> None:
    """MPI.Win.Put that notifies its target.

    Does not block. Errors and source: see oriel.rma.notifications.

    >>> data = np.full(2, 1.0)
    >>> oriel.Put_notify(win, data, peer, tag=5, target=3)
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> memory[3:5].tolist()
    [1.0, 1.0]
    >>> win.Flush(peer)
    """
    operation = put("ORIEL_Put_notify_c", origin, target_rank, target)
    operation.issue(win, tag)


def Get_notify(
    win: MPI.Win, origin: BufSpec, target_rank: int, tag: int, target: TargetSpec | None = None
) -> None:
    """MPI.Win.Get that notifies its target that the memory read may be overwritten.

    Does not block. The data is in `origin` after a flush. Errors and source: see
    oriel.rma.notifications.

    >>> fetched = np.ones(2)
    >>> oriel.Get_notify(win, fetched, peer, tag=5)
    >>> win.Flush(peer)
    >>> fetched.tolist()
    [0.0, 0.0]
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    """
    operation = get("ORIEL_Get_notify_c", origin, target_rank, target)
    operation.issue(win, tag)


def Accumulate_notify(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    tag: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> None:
    """MPI.Win.Accumulate that notifies its target.

    Does not block. Errors and source: see oriel.rma.notifications.

    >>> memory[0] = 1.0
    >>> comm.Barrier()
    >>> ones = np.ones(1)
    >>> oriel.Accumulate_notify(win, ones, peer, tag=5, op=MPI.SUM)
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> float(memory[0])
    2.0
    >>> win.Flush(peer)
    """
    operation = accumulate("ORIEL_Accumulate_notify_c", origin, target_rank, target, op)
    operation.issue(win, tag)


def Get_accumulate_notify(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    tag: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> None:
    """MPI.Win.Get_accumulate that notifies its target.

    Does not block. What was at the target is in `result` after a flush. Errors and source: see
    oriel.rma.notifications.

    >>> ones, before = np.ones(1), np.ones(1)
    >>> oriel.Get_accumulate_notify(win, ones, before, peer, tag=5)
    >>> win.Flush(peer)
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> float(before[0]), float(memory[0])
    (0.0, 1.0)
    """
    operation = get_accumulate(
        "ORIEL_Get_accumulate_notify_c", origin, result, target_rank, target, op
    )
    operation.issue(win, tag)


def Fetch_and_op_notify(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    tag: int,
    target_disp: int = 0,
    op: MPI.Op = MPI.SUM,
) -> None:
    """MPI.Win.Fetch_and_op that notifies its target.

    The buffers have one element each; `target_disp` is in displacement units of the target's
    window. Does not block. Errors and source: see oriel.rma.notifications.

    >>> one, before = np.ones(1), np.ones(1)
    >>> oriel.Fetch_and_op_notify(win, one, before, peer, tag=5, target_disp=2)
    >>> win.Flush(peer)
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> float(before[0]), float(memory[2])
    (0.0, 1.0)
    """
    operation = single_elements(
        "ORIEL_Fetch_and_op_notify", target_rank, origin=origin, result=result
    )
    operation.issue(target_rank, target_disp, op, win, tag)


def Compare_and_swap_notify(
    win: MPI.Win,
    origin: BufSpec,
    compare: BufSpec,
    result: BufSpec,
    target_rank: int,
    tag: int,
    target_disp: int = 0,
) -> None:
    """MPI.Win.Compare_and_swap that notifies its target, also if the comparison fails.

    The buffers have one element each of a type that MPI permits: integers, logical, byte.
    `target_disp` is in displacement units of the target's window. Does not block. Errors and
    source: see oriel.rma.notifications.

    >>> new, old, before = (np.full(1, each, "i8") for each in (7, 0, 1))
    >>> oriel.Compare_and_swap_notify(win, new, old, before, peer, tag=5)
    >>> win.Flush(peer)
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> int(before[0]), int(memory.view("i8")[0])
    (0, 7)
    """
    operation = single_elements(
        "ORIEL_Compare_and_swap_notify",
        target_rank,
        origin=origin,
        compare=compare,
        result=result,
    )
    operation.issue(target_rank, target_disp, win, tag)


def Rput_notify(
    win: MPI.Win, origin: BufSpec, target_rank: int, tag: int, target: TargetSpec | None = None
) -> Request:
    """MPI.Win.Rput that notifies its target.

    Does not block. Errors and source: see oriel.rma.notifications.

    >>> oriel.Rput_notify(win, np.full(1, 2.5), peer, tag=5).Wait()
    True
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> float(memory[0])
    2.5
    """
    operation = put("ORIEL_Rput_notify_c", origin, target_rank, target)
    return operation.issue_with_request(win, tag)


def Rget_notify(
    win: MPI.Win, origin: BufSpec, target_rank: int, tag: int, target: TargetSpec | None = None
) -> Request:
    """MPI.Win.Rget that notifies its target that the memory read may be overwritten.

    Does not block. The data has arrived when the request is complete. Errors and source: see
    oriel.rma.notifications.

    >>> fetched = np.ones(1)
    >>> oriel.Rget_notify(win, fetched, peer, tag=5).Wait()
    True
    >>> float(fetched[0])
    0.0
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    """
    operation = get("ORIEL_Rget_notify_c", origin, target_rank, target)
    return operation.issue_with_request(win, tag)


def Raccumulate_notify(
    win: MPI.Win,
    origin: BufSpec,
    target_rank: int,
    tag: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Raccumulate that notifies its target.

    Does not block. Errors and source: see oriel.rma.notifications.

    >>> oriel.Raccumulate_notify(win, np.full(1, 2.5), peer, tag=5).Wait()
    True
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> float(memory[0])
    2.5
    """
    operation = accumulate("ORIEL_Raccumulate_notify_c", origin, target_rank, target, op)
    return operation.issue_with_request(win, tag)


def Rget_accumulate_notify(
    win: MPI.Win,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    tag: int,
    target: TargetSpec | None = None,
    op: MPI.Op = MPI.SUM,
) -> Request:
    """MPI.Win.Rget_accumulate that notifies its target.

    Does not block. What was at the target is in `result` when the request is complete. Errors and
    source: see oriel.rma.notifications.

    >>> before = np.ones(1)
    >>> oriel.Rget_accumulate_notify(win, np.ones(1), before, peer, tag=5).Wait()
    True
    >>> float(before[0])
    0.0
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    """
    operation = get_accumulate(
        "ORIEL_Rget_accumulate_notify_c", origin, result, target_rank, target, op
    )
    return operation.issue_with_request(win, tag)


def Notify_init(
    win: MPI.Win, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, expected_count: int = 1
) -> Prequest:
    """Creates a persistent request that completes after `expected_count` notifications from rank
    `source` of the window's group with tag `tag`.

    Local; does not block. The request is inactive until Start. Then it takes the oldest matching
    notifications that no request has taken, and those that arrive. The status of a wait describes
    the last notification: source, tag, and by Get_count(MPI.BYTE) the bytes of the operation at the
    target. Free frees the request, also while it is active, and so does a `with` statement.

    Errors: MPI.ERR_WIN, ERR_RANK, ERR_TAG, ERR_COUNT. A wait raises MPI.ERR_OTHER if a process has
    ended whose notification the request may be waiting for, and MPI.ERR_REQUEST if the window has
    been freed. Source: see oriel.rma.notifications, section III-B.

    >>> request = oriel.Notify_init(win, source=peer, tag=5, expected_count=2)
    >>> request.Start()
    >>> data = np.full(1, 4.0)
    >>> oriel.Put_notify(win, data, peer, tag=5)
    >>> oriel.Put_notify(win, data, peer, tag=5, target=1)
    >>> status = MPI.Status()
    >>> request.Wait(status)
    True
    >>> status.source == peer, status.tag, status.Get_count(MPI.BYTE)
    (True, 5, 8)
    >>> request.Free()
    >>> win.Flush(peer)
    """
    return request_of(
        Prequest,
        "ORIEL_Notify_init",
        win,
        source,
        tag,
        expected_count,
    )


def Win_wait_notify(win: MPI.Win, tag: int = MPI.ANY_TAG) -> Request:
    """Creates a request that completes when one notified operation with tag `tag`, from any rank,
    has taken effect on the caller's part of the window.

    Local; does not block. The request is active at once and not persistent; otherwise it is like a
    request of Notify_init. Errors: MPI.ERR_WIN, ERR_TAG; those of a wait are as for Notify_init.
    Source: "Quo Vadis MPI RMA?", section 5.1.

    >>> request = oriel.Win_wait_notify(win, tag=5)
    >>> data = np.full(1, 4.0)
    >>> oriel.Put_notify(win, data, peer, tag=5)
    >>> request.Wait()
    True
    >>> float(memory[0])
    4.0
    >>> win.Flush(peer)
    """
    return request_of(Request, "ORIEL_Win_wait_notify", win, tag)


def Notify_probe(
    win: MPI.Win,
    source: int = MPI.ANY_SOURCE,
    tag: int = MPI.ANY_TAG,
    status: MPI.Status | None = None,
) -> bool:
    """Waits until there is a matching notification that no request has taken, and returns True.

    Blocking. The notification is not taken; `status` describes the oldest one. Errors: those of
    Notify_init, and MPI.ERR_OTHER if a process has ended whose notification the call may be waiting
    for. Source: see oriel.rma.notifications, section III-B.

    >>> oriel.Put_notify(win, memory, peer, tag=5)
    >>> status = MPI.Status()
    >>> oriel.Notify_probe(win, source=peer, tag=MPI.ANY_TAG, status=status)
    True
    >>> status.tag
    5
    >>> oriel.Win_wait_notify(win, status.tag).Wait()
    True
    >>> win.Flush(peer)
    """
    described = MPI.Status() if status is None else status
    invoke("ORIEL_Notify_probe", win, source, tag, described)
    return True


def Notify_iprobe(
    win: MPI.Win,
    source: int = MPI.ANY_SOURCE,
    tag: int = MPI.ANY_TAG,
    status: MPI.Status | None = None,
) -> bool:
    """Says whether there is a matching notification that no request has taken.

    Does not block. The notification is not taken; `status` describes the oldest one. Errors and
    source: as of Notify_probe.

    >>> oriel.Notify_iprobe(win, tag=6)
    False
    >>> oriel.Put_notify(win, memory, peer, tag=5)
    >>> while not oriel.Notify_iprobe(win, tag=5):
    ...     pass
    >>> oriel.Win_wait_notify(win, tag=5).Wait()
    True
    >>> win.Flush(peer)
    """
    described = MPI.Status() if status is None else status
    flag = ffi.new("int *")
    invoke("ORIEL_Notify_iprobe", win, source, tag, flag, described)
    return bool(flag[0])
