# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking epochs: calls that open, close or flush an epoch and return a request, and `with`
blocks that are epochs.

Rules common to all calls:

- No call blocks. The request of a call that opens an epoch is complete when the call returns.
- Blocking methods of mpi4py's Win and these calls may be mixed within one epoch.
- When a call has closed an epoch, the buffers of the epoch's operations may be reused after the
  request of that call is complete. The program keeps them alive until then.
- Several epochs may be pending on a window. An epoch starts when the epochs that were closed before
  it was opened are complete, unless the window's reorder keys permit more. Two ranks that
  both expose memory to each other and access it therefore open both epochs before they close one.
- Errors are raised as MPI.Exception if the window's error handler is MPI.ERRORS_RETURN, which is
  mpi4py's default: MPI.ERR_WIN (also for a window that Oriel does not implement), ERR_RMA_SYNC,
  ERR_RANK, ERR_LOCKTYPE, ERR_ASSERT, ERR_GROUP. ValueError and TypeError: as oriel.rma says. After
  an error nothing has been started.

Source: "Nonblocking epochs in MPI one-sided communication", sections V and VI. The header
oriel/oriel.h describes the calls in C.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType

from mpi4py import MPI

from oriel.rma.request import Request, request_of


def Win_ipost(win: MPI.Win, group: MPI.Group, assertion: int = 0) -> Request:
    """Nonblocking MPI.Win.Post: opens an exposure epoch to `group`.

    Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 5.0)
    >>> group = win.Get_group()
    >>> oriel.Win_ipost(win, group).Wait()
    True
    >>> oriel.Win_istart(win, group).Wait()
    True
    >>> win.Put(data, peer)
    >>> MPI.Request.Waitall([oriel.Win_icomplete(win), oriel.Win_iwait(win)])
    True
    >>> float(memory[0])
    5.0
    """
    return request_of(Request, "ORIEL_Win_ipost", group, assertion, win)


def Win_istart(win: MPI.Win, group: MPI.Group, assertion: int = 0) -> Request:
    """Nonblocking MPI.Win.Start: opens an access epoch to `group`.

    Operations may be issued at once; they wait for the target's exposure. Errors and source: see
    oriel.rma.epochs.

    >>> data = np.full(1, 6.0)
    >>> pair = win.Get_group()
    >>> requests = [oriel.Win_ipost(win, pair), oriel.Win_istart(win, pair)]
    >>> win.Put(data, peer)
    >>> requests += [oriel.Win_icomplete(win), oriel.Win_iwait(win)]
    >>> MPI.Request.Waitall(requests)
    True
    >>> float(memory[0])
    6.0
    """
    return request_of(Request, "ORIEL_Win_istart", group, assertion, win)


def Win_icomplete(win: MPI.Win) -> Request:
    """Nonblocking MPI.Win.Complete: closes the access epoch.

    The request completes when MPI.Win.Complete would have returned. Errors and source: see
    oriel.rma.epochs.

    >>> with oriel.ipost_epoch(win, win.Get_group()) as exposure:
    ...     win.Start(win.Get_group())
    ...     request = oriel.Win_icomplete(win)
    >>> MPI.Request.Waitall([request, exposure.request])
    True
    """
    return request_of(Request, "ORIEL_Win_icomplete", win)


def Win_iwait(win: MPI.Win) -> Request:
    """Nonblocking MPI.Win.Wait: closes the exposure epoch.

    The request completes when every origin of the group has completed its access epoch. The next
    exposure epoch may be opened at once. Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 7.0)
    >>> win.Post(win.Get_group())
    >>> with oriel.istart_epoch(win, win.Get_group()) as access:
    ...     win.Put(data, peer)
    ...     request = oriel.Win_iwait(win)
    >>> MPI.Request.Waitall([request, access.request])
    True
    """
    return request_of(Request, "ORIEL_Win_iwait", win)


def Win_ifence(win: MPI.Win, assertion: int = 0) -> Request:
    """Nonblocking MPI.Win.Fence: closes the fence epoch, if one is open, and opens the next one.

    Collective over the window's group. The request completes when the operations of the closed
    epoch are complete and all ranks have made the call; with MPI.MODE_NOPRECEDE it is complete at
    once. Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 8.0)
    >>> oriel.Win_ifence(win, MPI.MODE_NOPRECEDE).Wait()
    True
    >>> win.Put(data, peer)
    >>> oriel.Win_ifence(win, MPI.MODE_NOSUCCEED).Wait()
    True
    >>> float(memory[0])
    8.0
    """
    return request_of(Request, "ORIEL_Win_ifence", assertion, win)


def Win_ilock(
    win: MPI.Win, rank: int, lock_type: int = MPI.LOCK_EXCLUSIVE, assertion: int = 0
) -> Request:
    """Nonblocking MPI.Win.Lock: opens a lock epoch to `rank`.

    The lock may not be held yet when the request is complete; operations wait for it. A program
    that loads or stores the locked memory itself uses MPI.Win.Lock. Errors and source: see
    oriel.rma.epochs.

    >>> one = np.ones(1)
    >>> oriel.Win_ilock(win, peer, MPI.LOCK_SHARED).Wait()
    True
    >>> win.Accumulate(one, peer)
    >>> oriel.Win_iunlock(win, peer).Wait()
    True
    """
    return request_of(Request, "ORIEL_Win_ilock", lock_type, rank, assertion, win)


def Win_ilock_all(win: MPI.Win, assertion: int = 0) -> Request:
    """Nonblocking MPI.Win.Lock_all: opens a shared lock epoch to all ranks of the window.

    Errors and source: see oriel.rma.epochs.

    >>> one = np.ones(1)
    >>> oriel.Win_ilock_all(win).Wait()
    True
    >>> win.Accumulate(one, peer)
    >>> oriel.Win_iunlock_all(win).Wait()
    True
    """
    return request_of(Request, "ORIEL_Win_ilock_all", assertion, win)


def Win_iunlock(win: MPI.Win, rank: int) -> Request:
    """Nonblocking MPI.Win.Unlock: closes the lock epoch to `rank`.

    The request completes when all operations of the epoch are complete at origin and target and
    the lock is released. Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 3.0)
    >>> win.Lock(peer)
    >>> win.Put(data, peer)
    >>> oriel.Win_iunlock(win, peer).Wait()
    True
    """
    return request_of(Request, "ORIEL_Win_iunlock", rank, win)


def Win_iunlock_all(win: MPI.Win) -> Request:
    """Nonblocking MPI.Win.Unlock_all: closes the lock epoch to all ranks.

    The request completes like that of Win_iunlock, for all ranks. Errors and source: see
    oriel.rma.epochs.

    >>> data = np.full(1, 3.0)
    >>> win.Lock_all()
    >>> win.Put(data, peer)
    >>> oriel.Win_iunlock_all(win).Wait()
    True
    """
    return request_of(Request, "ORIEL_Win_iunlock_all", win)


def Win_iflush(win: MPI.Win, rank: int) -> Request:
    """Nonblocking MPI.Win.Flush.

    The request completes when the operations to `rank` that were issued before this call in the
    open epoch are complete at origin and target. It does not cover operations issued later. Errors
    and source: see oriel.rma.epochs.

    >>> data = np.full(1, 4.0)
    >>> win.Lock_all()
    >>> win.Put(data, peer)
    >>> oriel.Win_iflush(win, peer).Wait()
    True
    >>> win.Unlock_all()
    """
    return request_of(Request, "ORIEL_Win_iflush", rank, win)


def Win_iflush_local(win: MPI.Win, rank: int) -> Request:
    """Nonblocking MPI.Win.Flush_local: as Win_iflush, for completion at the origin.

    When the request is complete, the buffers may be reused. Errors and source: see
    oriel.rma.epochs.

    >>> win.Lock_all()
    >>> fetched = np.zeros(1)
    >>> win.Get(fetched, rank)
    >>> oriel.Win_iflush_local(win, rank).Wait()
    True
    >>> float(fetched[0])
    0.0
    >>> win.Unlock_all()
    """
    return request_of(Request, "ORIEL_Win_iflush_local", rank, win)


def Win_iflush_all(win: MPI.Win) -> Request:
    """Nonblocking MPI.Win.Flush_all: as Win_iflush, for operations to all ranks.

    Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 4.0)
    >>> win.Lock_all()
    >>> win.Put(data, peer)
    >>> oriel.Win_iflush_all(win).Wait()
    True
    >>> win.Unlock_all()
    """
    return request_of(Request, "ORIEL_Win_iflush_all", win)


def Win_iflush_local_all(win: MPI.Win) -> Request:
    """Nonblocking MPI.Win.Flush_local_all: as Win_iflush_local, for operations to all ranks.

    Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 4.0)
    >>> win.Lock_all()
    >>> win.Put(data, peer)
    >>> oriel.Win_iflush_local_all(win).Wait()
    True
    >>> win.Unlock_all()
    """
    return request_of(Request, "ORIEL_Win_iflush_local_all", win)


class Epoch:
    """An epoch as a `with` block: opened and closed by nonblocking calls.

    The functions that end in `_epoch` make epochs, each for one block. Entering and leaving the
    block do not wait, also if the block raises an exception. The epoch is complete when Wait has
    returned. mpi4py's Put does not keep the array: assign it to a variable that lives until Wait
    has returned.

    Errors: RuntimeError if the epoch is used out of order; at the block's ends those of the two
    calls. If the block raises an exception, an error of the closing call is dropped.

    >>> data = np.full(1, 2.0)
    >>> with oriel.ilock_epoch(win, peer) as epoch:
    ...     win.Put(data, peer)
    >>> epoch.Wait()
    True
    """

    def __init__(self, open: Callable[[], Request], close: Callable[[], Request]) -> None:
        self._open: Callable[[], Request] | None = open
        self._close = close
        self._request: Request | None = None

    def __enter__(self) -> Epoch:
        if self._open is None:
            raise RuntimeError("This epoch has been opened before: make another one.")
        self._open().Wait()  # which is complete
        self._open = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self._request = self._close()
        else:
            # Closing may fail because of the block's exception, which is the one to raise.
            with contextlib.suppress(MPI.Exception):
                self._request = self._close()

    @property
    def request(self) -> Request:
        """The request of the call that has closed the epoch, for example for
        MPI.Request.Waitall."""
        if self._request is None:
            raise RuntimeError("This epoch has not been closed: call Wait after the `with` block.")
        return self._request

    def Wait(self) -> bool:
        """Waits until the epoch is complete. Blocking. Errors: those of the epoch's operations."""
        return self.request.Wait()

    def Test(self) -> bool:
        """Says whether the epoch is complete. Does not block. Errors: as of Wait."""
        return self.request.Test()


def istart_epoch(win: MPI.Win, group: MPI.Group, assertion: int = 0) -> Epoch:
    """A `with` block that is an access epoch: Win_istart and Win_icomplete.

    Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 9.0)
    >>> with oriel.ipost_epoch(win, win.Get_group()) as exposure:
    ...     with oriel.istart_epoch(win, win.Get_group()) as access:
    ...         win.Put(data, peer)
    >>> access.Wait() and exposure.Wait()
    True
    >>> float(memory[0])
    9.0
    """
    return Epoch(lambda: Win_istart(win, group, assertion), lambda: Win_icomplete(win))


def ipost_epoch(win: MPI.Win, group: MPI.Group, assertion: int = 0) -> Epoch:
    """A `with` block that is an exposure epoch: Win_ipost and Win_iwait.

    The epoch is complete, and the data of the origins is there, after Wait, not at the end of the
    block. Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 9.0)
    >>> with oriel.ipost_epoch(win, win.Get_group()) as exposure:
    ...     with oriel.istart_epoch(win, win.Get_group()) as access:
    ...         win.Put(data, peer)
    >>> MPI.Request.Waitall([exposure.request, access.request])
    True
    """
    return Epoch(lambda: Win_ipost(win, group, assertion), lambda: Win_iwait(win))


def ifence_epoch(win: MPI.Win) -> Epoch:
    """A `with` block that is a fence epoch: Win_ifence with MPI.MODE_NOPRECEDE, and with
    MPI.MODE_NOSUCCEED.

    Collective over the window's group. Errors and source: see oriel.rma.epochs.

    >>> data = np.full(1, 1.5)
    >>> with oriel.ifence_epoch(win) as fence:
    ...     win.Put(data, peer)
    >>> fence.Wait()
    True
    >>> float(memory[0])
    1.5
    """
    return Epoch(
        lambda: Win_ifence(win, MPI.MODE_NOPRECEDE), lambda: Win_ifence(win, MPI.MODE_NOSUCCEED)
    )


def ilock_epoch(
    win: MPI.Win, rank: int, lock_type: int = MPI.LOCK_EXCLUSIVE, assertion: int = 0
) -> Epoch:
    """A `with` block that is a lock epoch to `rank`: Win_ilock and Win_iunlock.

    Errors and source: see oriel.rma.epochs.

    >>> one = np.ones(1)
    >>> first = oriel.ilock_epoch(win, 0)
    >>> second = oriel.ilock_epoch(win, 1)
    >>> with first:
    ...     win.Accumulate(one, 0)
    >>> with second:
    ...     win.Accumulate(one, 1)
    >>> MPI.Request.Waitall([first.request, second.request])
    True
    """
    return Epoch(lambda: Win_ilock(win, rank, lock_type, assertion), lambda: Win_iunlock(win, rank))


def ilock_all_epoch(win: MPI.Win, assertion: int = 0) -> Epoch:
    """A `with` block that is a shared lock epoch to all ranks: Win_ilock_all and Win_iunlock_all.

    Errors and source: see oriel.rma.epochs.

    >>> one = np.ones(1)
    >>> with oriel.ilock_all_epoch(win) as epoch:
    ...     win.Accumulate(one, 0)
    ...     win.Accumulate(one, 1)
    >>> epoch.Wait()
    True
    """
    return Epoch(lambda: Win_ilock_all(win, assertion), lambda: Win_iunlock_all(win))
