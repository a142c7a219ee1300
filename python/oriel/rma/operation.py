# SPDX-License-Identifier: BSD-3-Clause
"""Operations: their arguments in the order of the functions in C, and the buffers that they use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mpi4py import MPI
from mpi4py.typing import BufSpec, TargetSpec

from oriel.rma.binding import Argument, invoke
from oriel.rma.buffer_spec import make_origin, make_target
from oriel.rma.request import Request, request_of

# Made once for each call, because most operations need no sentence.
_argument = cache(Argument)


@dataclass
class Operation:
    """One operation: a function in C and its first arguments. `kept` keeps the buffers alive."""

    call: str
    arguments: tuple[object, ...]
    kept: object

    def issue(self, *more: object) -> None:
        """Calls the function, with what follows the operation's own arguments."""
        invoke(self.call, *self.arguments, *more)

    def issue_with_request(self, *more: object) -> Request:
        return request_of(Request, self.call, *self.arguments, *more, kept=self.kept)


def put(call: str, origin: BufSpec, target_rank: int, target: TargetSpec | None) -> Operation:
    return _transfer(call, origin, target_rank, target, writable=False)


def get(call: str, origin: BufSpec, target_rank: int, target: TargetSpec | None) -> Operation:
    return _transfer(call, origin, target_rank, target, writable=True)


def _transfer(
    call: str, origin: BufSpec, target_rank: int, target: TargetSpec | None, writable: bool
) -> Operation:
    spec = make_origin(_argument(call, "origin"), origin, target_rank, writable)
    at_target = make_target(_argument(call, "target"), target, spec)
    return Operation(call, (*spec.arguments(), target_rank, *at_target), spec.kept)


def accumulate(
    call: str, origin: BufSpec, target_rank: int, target: TargetSpec | None, op: MPI.Op
) -> Operation:
    operation = put(call, origin, target_rank, target)
    return Operation(call, (*operation.arguments, op), operation.kept)


def get_accumulate(
    call: str,
    origin: BufSpec,
    result: BufSpec,
    target_rank: int,
    target: TargetSpec | None,
    op: MPI.Op,
) -> Operation:
    source = make_origin(_argument(call, "origin"), origin, target_rank, writable=False)
    fetched = make_origin(_argument(call, "result"), result, target_rank, writable=True)
    at_target = make_target(_argument(call, "target"), target, source)
    arguments = (*source.arguments(), *fetched.arguments(), target_rank, *at_target, op)
    return Operation(call, arguments, (source.kept, fetched.kept))


def single_elements(call: str, target_rank: int, result: BufSpec, **others: BufSpec) -> Operation:
    """The first arguments of Fetch_and_op and Compare_and_swap: the addresses of `others` and of
    `result`, which have one element each, and their common datatype."""
    specs = {
        name: make_origin(_argument(call, name), each, target_rank, writable=False)
        for name, each in others.items()
    }
    specs["result"] = make_origin(_argument(call, "result"), result, target_rank, writable=True)
    datatype = specs["origin"].datatype
    for name, each in specs.items():
        if target_rank == MPI.PROC_NULL:
            break
        argument = _argument(call, name)
        if each.count != 1:
            raise ValueError(f"{argument} has {each.count} elements; give a buffer of one element.")
        if each.datatype != datatype:
            raise ValueError(f"{argument} has another datatype than `origin`; give the same one.")
    addresses = tuple(each.address for each in specs.values())
    kept = tuple(each.kept for each in specs.values())
    return Operation(call, (*addresses, datatype), kept)
