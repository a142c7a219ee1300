# SPDX-License-Identifier: BSD-3-Clause
"""How Python calls the library: by cffi, without a compiler, in the process that has loaded it.

A handle of MPI is an int or a pointer, which depends on the MPI library that mpi4py has loaded."""

from __future__ import annotations

import re
from operator import index
from typing import Any, NamedTuple

import cffi
from mpi4py import MPI

from oriel.rma.prototypes import PROTOTYPES

NOT_LOADED = (
    "The library of Oriel is not loaded into this process. Start the program by "
    "`oriel run -n N python PROGRAM`, or preload the library as `oriel env` prints it."
)


def _types() -> str:
    """The types that the prototypes name. A status is only passed on."""
    handle = "int" if MPI._sizeof(MPI.Win) == 4 else "void*"
    names = ("Comm", "Datatype", "Group", "Info", "Op", "Request", "Win")
    return "\n".join(
        [
            *[f"typedef {handle} MPI_{name};" for name in names],
            "typedef intptr_t MPI_Aint;",
            "typedef int64_t MPI_Count;",
            "typedef struct MPI_Status MPI_Status;",
        ]
    )


ffi = cffi.FFI()
ffi.cdef(_types() + "\n" + PROTOTYPES)
_process = ffi.dlopen(None)

# The classes of mpi4py, by the names that handles and statuses have in C.
_CLASSES: dict[str, type] = {
    "MPI_Comm": MPI.Comm,
    "MPI_Datatype": MPI.Datatype,
    "MPI_Group": MPI.Group,
    "MPI_Info": MPI.Info,
    "MPI_Op": MPI.Op,
    "MPI_Request": MPI.Request,
    "MPI_Status": MPI.Status,
    "MPI_Win": MPI.Win,
}
_POINTERS = {kind: ffi.typeof(f"{name} *") for name, kind in _CLASSES.items()}
# Parameters that have another name in Python.
_PYTHON_NAMES = {"assert": "assertion", "id": "tag", "parent": "win", "type": "datatype"}


class Argument(NamedTuple):
    """The subject of a sentence about an argument, or a part of one. `call` is C's function."""

    call: str
    name: str
    part: str = ""

    def __str__(self) -> str:
        call = self.call[len("ORIEL_") :].removesuffix("_c")
        return f"{call}: " + (f"the {self.part} of " if self.part else "") + f"`{self.name}`"

    def of(self, part: str) -> Argument:
        """A part of the argument."""
        return Argument(self.call, self.name, part)

    def integer(self, value: object, part: str = "") -> int:
        """The value of the argument, or of a part of it. TypeError: it is not an integer."""
        try:
            return index(value)  # type: ignore[arg-type]
        except TypeError:
            kind = type(value).__name__
            raise TypeError(f"{self.of(part)} is of type {kind}; give an integer.") from None

    def require_kind(self, kind: type, value: object) -> None:
        """TypeError: `value` is not of mpi4py's class `kind`."""
        if not isinstance(value, kind):
            name = type(value).__name__
            raise TypeError(f"{self} is of type {name}; give an MPI.{kind.__name__}.")


class Parameter(NamedTuple):
    """A parameter of a function in C. `kind` is the class of mpi4py whose handle, or for a pointer
    whose address, C takes; without one C takes an integer, or what cffi has made."""

    name: str
    kind: type | None
    is_pointer: bool


def _parameters(text: str) -> tuple[Parameter, ...]:
    """Of the parameters in a prototype."""
    found = []
    for each in text.split(","):
        *declared, name = each.split()
        kind = " ".join(declared)
        name = _PYTHON_NAMES.get(name, name)
        found.append(Parameter(name, _CLASSES.get(kind.rstrip("*")), kind.endswith("*")))
    return tuple(found)


# By the function's name in C.
PARAMETERS = {
    call: _parameters(text) for call, text in re.findall(r"(ORIEL_\w+)\((.*?)\);", PROTOTYPES, re.S)
}
# The positions and classes of those that have one.
_HANDLES = {
    call: [
        (position, each.kind, _POINTERS[each.kind], each.is_pointer)
        for position, each in enumerate(parameters)
        if each.kind is not None
    ]
    for call, parameters in PARAMETERS.items()
}


def handle(kind: type, value: object) -> Any:
    """The handle in an object of mpi4py's class `kind`."""
    return ffi.cast(_POINTERS[kind], MPI._addressof(value))[0]


def _explain(call: str, values: list[Any], error: Exception) -> Exception:
    """Says which argument has no value of its type in C. `error` is what cffi says."""
    for parameter, kind, value in zip(PARAMETERS[call], ffi.typeof(function(call)).args, values):
        if kind.kind == "primitive" and not isinstance(value, ffi.CData):
            bits = 8 * ffi.sizeof(kind)
            argument = Argument(call, parameter.name)
            number = argument.integer(value)
            if not -(1 << bits - 1) <= number < 1 << bits - 1:
                return ValueError(f"{argument} is {number}; C has {bits} bits for it.")
    return error


def function(name: str) -> Any:
    """A function of the library. Without the library: RuntimeError."""
    try:
        return getattr(_process, name)
    except AttributeError:
        raise RuntimeError(NOT_LOADED) from None


def invoke(call: str, *arguments: object) -> None:
    """Calls a function of the library, without Python's global lock. An argument that is an object
    of mpi4py is given as its handle, or as a pointer to it where C has one. An error code that the
    function returns is raised as MPI.Exception; an argument without a value in C is a TypeError or
    a ValueError."""
    called = function(call)
    values: list[Any] = list(arguments)
    for position, kind, pointer_type, is_pointer in _HANDLES[call]:
        value = values[position]
        if not isinstance(value, kind):
            Argument(call, PARAMETERS[call][position].name).require_kind(kind, value)
        pointer = ffi.cast(pointer_type, MPI._addressof(value))
        values[position] = pointer if is_pointer else pointer[0]
    try:
        code = called(*values)
    except (TypeError, OverflowError) as error:
        raise _explain(call, values, error) from None
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)
