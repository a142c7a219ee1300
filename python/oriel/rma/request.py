# SPDX-License-Identifier: BSD-3-Clause
"""Requests of mpi4py that keep buffers alive."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, TypeVar

from mpi4py import MPI

from oriel.rma.binding import invoke

# Buffers of requests that the program has dropped before they were complete: the library still
# reads or writes them.
_still_in_use: list[object] = []


class Request(MPI.Request):
    """A request of mpi4py that keeps its buffers alive until its own Wait or Test completes it.

    It may be passed to all methods of mpi4py that take requests, also in one list with requests of
    mpi4py. If such a method has completed it, as MPI.Request.Waitall does, the buffers stay until
    the object is dropped. If the program drops the object before the request is complete, they stay
    until the program ends.

    >>> win.Lock_all()
    >>> request = oriel.Rrput(win, np.full(2, 1.0 + rank), peer)
    >>> request.Wait()
    True
    >>> win.Unlock_all()
    """

    _kept: object = None

    def Wait(self, status: MPI.Status | None = None) -> Literal[True]:
        """Waits until the request is complete, and releases its buffers. Blocking. Errors: those
        that the function which returned the request names."""
        done = super().Wait(status)
        self._release()
        return done

    def Test(self, status: MPI.Status | None = None) -> bool:
        """Says whether the request is complete, and if so releases its buffers. Does not block.
        Errors: as of Wait."""
        done = super().Test(status)
        self._release()
        return done

    def _release(self) -> None:
        if not self:
            self._kept = None

    def __del__(self) -> None:
        if self and self._kept is not None:
            _still_in_use.append(self._kept)


class Prequest(MPI.Prequest):
    """A persistent request of mpi4py that keeps its buffers alive until Free.

    In a `with` statement the end of the block frees the request. The request must then be
    inactive, except that a request of Notify_init may be active. If the block raises an exception
    while a collective is active, the request stays as it is.

    >>> with oriel.Notify_init(win, source=peer, tag=3) as request:
    ...     request.Start()
    ...     oriel.Put_notify(win, memory, peer, tag=3)
    ...     request.Wait()
    True
    >>> win.Fence()
    """

    _kept: object = None

    def Free(self) -> None:
        """Frees the request and releases its buffers. Local; does not block. Error:
        MPI.ERR_REQUEST (a collective that is active)."""
        super().Free()
        self._kept = None

    def __enter__(self) -> Prequest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.Free()
        else:
            # If the request is active, Free may fail. The exception of the block is the cause.
            with contextlib.suppress(MPI.Exception):
                self.Free()

    def __del__(self) -> None:
        if self and self._kept is not None:
            _still_in_use.append(self._kept)


AnyRequest = TypeVar("AnyRequest", Request, Prequest)
Persistent = TypeVar("Persistent", bound=MPI.Prequest)


def request_of(
    kind: type[AnyRequest], call: str, *arguments: object, kept: object = None
) -> AnyRequest:
    """Calls a function of the library whose last parameter is a request. Returns the request."""
    request = kind()
    invoke(call, *arguments, request)
    request._kept = kept
    return request


@contextlib.contextmanager
def started(request: Persistent, status: MPI.Status | None = None) -> Iterator[Persistent]:
    """Starts a persistent request at the beginning of a `with` block and waits for it at the end.

    `request` is one of Oriel or of mpi4py; `status` describes it afterwards. The beginning does not
    block; the end blocks until the request is complete. If the block raises an exception, the
    request stays active. Errors: those of MPI.Prequest.Start and Wait.

    >>> received = np.zeros(2)
    >>> with oriel.Alltoall_init(comm, np.array([10.0, 11.0]) + rank, received) as exchange:
    ...     with oriel.started(exchange):
    ...         total = sum(range(100))  # computation while data moves
    >>> bool((received == [10 + rank, 11 + rank]).all())
    True
    """
    request.Start()
    yield request
    request.Wait(status)
