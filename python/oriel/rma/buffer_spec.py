# SPDX-License-Identifier: BSD-3-Clause
"""Buffers as mpi4py's methods take them, and as functions in C take them.

The forms are mpi4py's (mpi4py.typing): a buffer, `[buffer, count]`, `[buffer, datatype]`,
`[buffer, count, datatype]`, and those with displacements. A buffer is an object with Python's
buffer protocol: a NumPy array, a bytearray, bytes where nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from mpi4py import MPI

from oriel.rma.binding import Argument, ffi, handle

FORMS = "a buffer, [buffer, count], [buffer, datatype] or [buffer, count, datatype]"


@dataclass
class BufferSpec:
    """Elements of one datatype in a buffer. `kept` is what keeps the memory alive."""

    address: Any
    count: int
    datatype: MPI.Datatype
    kept: object = None

    def arguments(self) -> tuple[object, ...]:
        return self.address, self.count, self.datatype


@dataclass
class BlockwiseSpec:
    """A block for each rank or neighbour; for alltoallw also a datatype for each."""

    address: Any
    counts: Any
    displs: Any
    datatypes: Any
    kept: object = None

    def arguments(self) -> tuple[object, ...]:
        return self.address, self.counts, self.displs, self.datatypes


@dataclass
class _Parts:
    """The items of a specification as the program gave them."""

    buffer: object
    count: Any = None
    displ: Any = None
    datatype: object = None


@dataclass
class _Memory:
    """The memory of a buffer. `kept` keeps it alive."""

    address: Any
    nbytes: int
    format: str | None
    kept: object


def as_datatype(argument: Argument, value: object) -> MPI.Datatype:
    """A datatype, or what the key of a NumPy or C type in mpi4py's table stands for."""
    if isinstance(value, MPI.Datatype):
        return value
    try:
        return MPI._typedict[value]  # type: ignore[index]
    except (KeyError, TypeError):
        raise ValueError(
            f"{argument} has the datatype {value!r}, which is none; give an MPI.Datatype or a "
            "NumPy type character."
        ) from None


def in_place(spec: object) -> bool:
    """mpi4py takes None for MPI.IN_PLACE."""
    return spec is None or spec is MPI.IN_PLACE


def in_place_address() -> Any:
    return ffi.cast("void *", int(MPI.IN_PLACE))


def contiguous_memory(argument: Argument, buffer: object, writable: bool) -> _Memory:
    """The memory of an object that has Python's buffer protocol."""
    try:
        view = memoryview(buffer)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        kind = type(buffer).__name__
        raise TypeError(
            f"{argument} is of type {kind}, which has no buffer; give a NumPy array, a bytearray "
            "or another object with Python's buffer protocol."
        ) from None
    if not view.contiguous:
        raise BufferError(
            f"{argument} is not contiguous; give a contiguous buffer, with a derived datatype that "
            "describes its parts."
        )
    if writable and view.readonly:
        raise BufferError(f"{argument} is read-only, and the call writes to it; give another one.")
    address = ffi.cast("void *", MPI.Get_address(view))
    return _Memory(address, view.nbytes, view.format, view)


def _is_datatype(value: object) -> bool:
    return isinstance(value, (MPI.Datatype, str))


def _pair(argument: Argument, value: Any) -> tuple[Any, Any]:
    if len(value) != 2:
        raise ValueError(
            f"{argument.of('pair of counts and displacements')} has {len(value)} items; give 2."
        )
    first, second = value
    return first, second


def _parts(argument: Argument, spec: object, pairs: tuple[type, ...]) -> _Parts:
    """`pairs`: the types of a count that is a pair of counts and displacements."""
    if not isinstance(spec, (list, tuple)):
        return _Parts(spec)
    if len(spec) == 4:
        return _Parts(*spec)
    if len(spec) not in (2, 3):
        raise ValueError(f"{argument} is a list of {len(spec)}; give {FORMS}.")
    buffer, second = spec[:2]
    if len(spec) == 2 and _is_datatype(second):
        return _Parts(buffer, datatype=second)
    pair = _pair(argument, second) if isinstance(second, pairs) else (second, None)
    return _Parts(buffer, *pair, *spec[2:])


def _memory_and_type(
    argument: Argument, parts: _Parts, writable: bool
) -> tuple[_Memory, MPI.Datatype]:
    if parts.buffer is None or parts.buffer is MPI.BOTTOM:
        datatype = as_datatype(argument, parts.datatype)
        return _Memory(ffi.cast("void *", int(MPI.BOTTOM)), 0, None, None), datatype
    memory = contiguous_memory(argument, parts.buffer, writable)
    if parts.datatype is not None:
        return memory, as_datatype(argument, parts.datatype)
    if memory.format in (None, "B"):
        return memory, MPI.BYTE
    return memory, as_datatype(argument, str(memory.format).lstrip("@<="))


def _whole_elements(argument: Argument, nbytes: int, datatype: MPI.Datatype) -> int:
    """The number of elements in `nbytes` bytes. ValueError: a part of an element is left over."""
    if nbytes == 0:
        return 0
    _, extent = datatype.Get_extent()
    if extent <= 0 or nbytes % extent:
        raise ValueError(
            f"{argument} has {nbytes} bytes, no whole number of elements of a datatype with extent "
            f"{extent}; give a count."
        )
    return nbytes // extent


def _not_negative(argument: Argument, part: str, value: object) -> int:
    number = argument.integer(value, part)
    if number < 0:
        raise ValueError(f"{argument.of(part)} is {number}; give one that is not negative.")
    return number


def make_buffer_spec(
    argument: Argument, spec: object, writable: bool, blocks: int = 1
) -> BufferSpec:
    """Consecutive elements. Without a count in `spec`, the count is the number of elements in the
    buffer, divided by `blocks`."""
    parts = _parts(argument, spec, (list, tuple))
    memory, datatype = _memory_and_type(argument, parts, writable)
    offset = 0
    if parts.displ is not None:
        displ = _not_negative(argument, "displacement", parts.displ)
        _, extent = datatype.Get_extent()
        offset = displ * extent
        if offset > memory.nbytes:
            raise ValueError(
                f"{argument.of('displacement')} is {displ}; the buffer ends before, at "
                f"{memory.nbytes} bytes."
            )
    if parts.count is not None:
        count = _not_negative(argument, "count", parts.count)
    else:
        elements = _whole_elements(argument, memory.nbytes - offset, datatype)
        if elements % blocks:
            raise ValueError(
                f"{argument} has {elements} elements, which are not {blocks} equal blocks; give "
                "the count of a block."
            )
        count = elements // blocks
    return BufferSpec(ffi.cast("char *", memory.address) + offset, count, datatype, memory.kept)


def make_blockwise_spec(
    argument: Argument, spec: object, writable: bool, blocks: int
) -> BlockwiseSpec:
    """A count and a displacement for each of `blocks`. Without counts the buffer is divided evenly;
    without displacements the blocks are adjacent."""
    parts = _parts(argument, spec, (tuple,))
    memory, datatype = _memory_and_type(argument, parts, writable)
    if parts.count is None:
        elements = _whole_elements(argument, memory.nbytes, datatype)
        counts = [elements // blocks + (elements % blocks > each) for each in range(blocks)]
    else:
        counts = _one_or_each(argument, "counts", parts.count, blocks)
    if parts.displ is None:
        displs = [sum(counts[:each]) for each in range(blocks)]
    elif (stride := _as_integer(parts.displ)) is not None:
        displs = [stride * each for each in range(blocks)]
    else:
        displs = _one_or_each(argument, "displacements", parts.displ, blocks)
    return BlockwiseSpec(
        memory.address,
        _array(argument, "MPI_Count[]", counts),
        _array(argument, "MPI_Aint[]", displs),
        datatype,
        memory.kept,
    )


def make_blockwise_spec_w(
    argument: Argument, spec: Any, writable: bool, blocks: int
) -> BlockwiseSpec:
    """A count, a displacement in bytes, and a datatype for each of `blocks`. Without counts and
    displacements each block is one element, at the beginning of the buffer."""
    if not isinstance(spec, (list, tuple)) or len(spec) not in (2, 3, 4):
        raise ValueError(
            f"{argument} has no datatypes; give [buffer, datatypes] or [buffer, counts, "
            "displacements, datatypes]."
        )
    buffer, *between, datatypes = spec
    if len(between) == 1:
        between = list(_pair(argument, between[0]))
    counts, displs = between or (None, None)
    if counts is None and displs is None:
        counts, displs = 1, 0
    if not isinstance(datatypes, (list, tuple)) or len(datatypes) != blocks:
        raise ValueError(f"{argument} has no list of {blocks} datatypes; give one for each block.")
    memory, _ = _memory_and_type(argument, _Parts(buffer, datatype=MPI.BYTE), writable)
    handles = [handle(MPI.Datatype, as_datatype(argument, each)) for each in datatypes]
    return BlockwiseSpec(
        memory.address,
        _array(argument, "MPI_Count[]", _one_or_each(argument, "counts", counts, blocks)),
        _array(argument, "MPI_Aint[]", _one_or_each(argument, "displacements", displs, blocks)),
        ffi.new("MPI_Datatype[]", handles),
        memory.kept,
    )


def _as_integer(value: object) -> int | None:
    """The value of an integer; None: it is none. An array of NumPy is one only without dimensions,
    although every array has __index__."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _one_or_each(argument: Argument, what: str, values: Any, blocks: int) -> list[int]:
    one = _as_integer(values)
    if one is not None:
        return [one] * blocks
    try:
        found = list(values)
    except TypeError:
        kind = type(values).__name__
        raise TypeError(f"{argument.of(what)} are of type {kind}; give a list.") from None
    if len(found) != blocks:
        raise ValueError(
            f"{argument} has {len(found)} {what}; give one for each of {blocks} blocks."
        )
    return [argument.integer(each, what[:-1]) for each in found]


def _array(argument: Argument, kind: str, values: list[int]) -> Any:
    try:
        return ffi.new(kind, values)
    except OverflowError:
        raise ValueError(f"{argument} has a count or displacement of more than 64 bits.") from None


def make_origin(argument: Argument, spec: object, target_rank: int, writable: bool) -> BufferSpec:
    """The origin's side of an operation. If the target is MPI.PROC_NULL, the buffer is ignored."""
    if target_rank != MPI.PROC_NULL:
        return make_buffer_spec(argument, spec, writable)
    given = spec[-1] if isinstance(spec, (list, tuple)) and spec else None
    datatype = as_datatype(argument, given) if _is_datatype(given) else MPI.BYTE
    return BufferSpec(ffi.NULL, 0, datatype)


def make_target(argument: Argument, spec: object, origin: BufferSpec) -> tuple[object, ...]:
    """Displacement, count and datatype at the target: `None`, a displacement, or
    `[displacement, count, datatype]`, of which the last two may be missing."""
    items: Sequence[Any]
    if spec is None:
        items = ()
    elif isinstance(spec, (list, tuple)):
        items = spec
    else:
        items = (spec,)
    if len(items) > 3:
        raise ValueError(
            f"{argument} has {len(items)} items; give [displacement, count, datatype] at most."
        )
    displ = argument.integer(items[0], "displacement") if items else 0
    count = argument.integer(items[1], "count") if len(items) > 1 else origin.count
    datatype = as_datatype(argument, items[2]) if len(items) > 2 else origin.datatype
    return displ, count, datatype
