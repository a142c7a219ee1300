# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran module `oriel` from the table of calls: the source of the module, which the
Fortran compiler of the program compiles, and the functions in C that the module calls. generate.py
writes both."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace

from table import COLUMNS, Call, Fault, Header, Parameter, Table, break_at_commas, short

# Fortran's kinds of C's integers: of dummy arguments, and in the interfaces of C functions.
INTEGERS = {
    "int": ("integer", "integer(c_int)"),
    "MPI_Aint": ("integer(MPI_ADDRESS_KIND)", "integer(c_intptr_t)"),
    "MPI_Count": ("integer(MPI_COUNT_KIND)", "integer(c_int64_t)"),
}
# Handles, and what the functions that convert them are named after: MPI_Type_f2c, MPI_Win_f2c.
HANDLES = {
    "MPI_Comm": "Comm",
    "MPI_Datatype": "Type",
    "MPI_Group": "Group",
    "MPI_Info": "Info",
    "MPI_Op": "Op",
    "MPI_Request": "Request",
    "MPI_Win": "Win",
}

HEAD = """\
! SPDX-License-Identifier: BSD-3-Clause
! {made}
!> The calls of Oriel in the style of mpi_f08. A program says `use mpi_f08` and `use oriel`, and is
!> compiled together with this file.
!>
!> - Each call has the name, and each argument the keyword, that the C headers of oriel/ give it.
!>   Those headers describe the calls; the comment at each procedure names the header.
!> - The last argument, ierror, is optional. It is MPI_SUCCESS or an error code.
!> - Where a call exists with large counts (ORIEL_x_c), ORIEL_x is generic: with arguments of
!>   MPI_COUNT_KIND it is ORIEL_x_c.
!> - Ranks, displacements, and the indices of notification counters start at 0, as in C. No call
!>   returns an array index.
!> - A buffer is an array of any type and rank, an element of one, or a scalar. MPI_BOTTOM and
!>   MPI_IN_PLACE may be given where C accepts them. A section that is not contiguous is an error,
!>   MPI_ERR_BUFFER: a compiler's copy of it would be gone when the operation reads or writes it.
!>   Use a derived datatype. Compilers pass a copy of a component of several elements, as a(:)%x,
!>   which a call cannot tell from an array: use a derived datatype there, too.
!> - Most operations are nonblocking: give their buffers the attribute ASYNCHRONOUS, and call
!>   MPI_F_sync_reg after the call that completes them, as for MPI's own operations.
!> - ORIEL_Reduce_init takes predefined ops; one of MPI_Op_create is MPI_ERR_OP.
!> - ORIEL_ERR_RMA_NOTIFICATION() is a function, as in C.
module oriel
"""

ADDRESS = """\
  !> The address of a buffer as C functions take it.
  function address_in_c(buffer) result(address)
    type(*), dimension(..), intent(in), asynchronous, target :: buffer
    type(c_ptr) :: address
    logical :: contiguous
    contiguous = is_contiguous(buffer)
    ! Compilers do not call a section contiguous that has one element at most.
    if (.not. contiguous) contiguous = size(buffer, kind=MPI_COUNT_KIND) <= 1
    address = c_address(c_loc(buffer), merge(1_c_int, 0_c_int, contiguous), MPI_BOTTOM, &
        MPI_IN_PLACE)
  end function
"""

ADDRESS_INTERFACE = """\
    function c_address(address, contiguous, bottom, in_place) bind(C, name="ORIEL_Address_f08") &
        result(in_c)
      import
      type(c_ptr), value :: address
      integer(c_int), value :: contiguous
      type(*), intent(in) :: bottom, in_place
      type(c_ptr) :: in_c
    end function
"""
ADDRESS_NAME = "ORIEL_Address_f08"


def entry(name: str) -> str:
    """The C function that the module calls for a call."""
    return f"{name}_f08"


def ours(table: Table) -> list[Call]:
    """The calls of the module, with their twins."""
    headers = {call.group.header for call in table.calls if call.name.startswith("ORIEL_")}
    return table.all_calls(*headers)


def entry_points(table: Table) -> list[str]:
    """The names of all C functions that the module calls."""
    return [ADDRESS_NAME, *[entry(call.name) for call in ours(table)]]


def is_function(call: Call) -> bool:
    """Returns something else than an error code."""
    return not call.parameters


# Parameters


@dataclass(frozen=True)
class Form:
    """A parameter in the procedure of the module, in the interface of the C function, and in C."""

    name: str
    dummy: str  # type and attributes in the procedure
    interface: str  # type and attributes in the interface
    c: str  # the declaration in C
    shape: str = ""  # of an array
    argument: str = ""  # what the procedure passes on; none: the dummy argument
    c_argument: str = ""  # what the C function passes on; none: its parameter
    handle: str = ""  # a handle that the call returns, or an array of handles: the type
    buffer: bool = False
    flag: bool = False
    status: bool = False


def make_form(call: Call, parameter: Parameter, table: Table) -> Form:
    kind, name = parameter.kind, parameter.name
    type_ = kind.large_type if call.large else kind.type
    declared = parameter.declaration(type_)
    is_array, direction = bool(parameter.length), parameter.direction
    if kind is table.kinds["buffer"]:
        intent = ", intent(in)" if direction == "in" else ""
        dummy = f"type(*), dimension(..){intent}, asynchronous"
        return Form(
            name,
            dummy,
            "type(c_ptr), value",
            declared,
            argument=f"address_in_c({name})",
            buffer=True,
        )
    if is_array and direction == "in":
        return make_array(name, type_, declared)
    if not is_array and direction == "in":
        return make_input(name, type_, declared)
    if not is_array and direction == "out":
        return make_output(name, type_, declared, kind is table.kinds["logical"])
    raise no_form(name, type_)


def make_array(name: str, type_: str, declared: str) -> Form:
    if type_ in INTEGERS:
        dummy, interface = (f"{each}, intent(in)" for each in INTEGERS[type_])
        return Form(name, dummy, interface, declared, "(*)")
    if type_ in HANDLES:
        dummy = f"type({type_}), intent(in)"
        argument = f"{name}_in_c.data()"
        return Form(
            name, dummy, dummy, f"const int {name}[]", "(*)", c_argument=argument, handle=type_
        )
    raise no_form(name, type_)


def from_fortran(kind: str, handle: str) -> str:
    """The handle in C. Oriel defines the conversions of windows, the host the others."""
    if kind == "Win":
        return f"ORIEL_WIN_FROM_FORTRAN({handle})"
    return f"ORIEL_FROM_FORTRAN({kind}, {handle})"


def to_fortran(kind: str, handle: str) -> str:
    if kind == "Win":
        return f"ORIEL_WIN_TO_FORTRAN({handle})"
    return f"ORIEL_TO_FORTRAN({kind}, {handle})"


def make_input(name: str, type_: str, declared: str) -> Form:
    if type_ in INTEGERS:
        dummy, interface = INTEGERS[type_]
        return Form(name, f"{dummy}, intent(in)", f"{interface}, value", declared)
    if type_ in HANDLES:
        return Form(
            name,
            f"type({type_}), intent(in)",
            "integer(c_int), value",
            f"int {name}",
            argument=f"{name}%MPI_VAL",
            c_argument=from_fortran(HANDLES[type_], name),
        )
    if type_ == "const char*":
        return Form(
            name,
            "character(len=*), intent(in)",
            "character(kind=c_char), dimension(*), intent(in)",
            declared,
            argument=f"trim(adjustl({name})) // c_null_char",
        )
    raise no_form(name, type_)


def make_output(name: str, type_: str, declared: str, logical: bool) -> Form:
    """A call that fails does not set outputs, except logicals."""
    if logical:
        interface = "integer(c_int), intent(inout)"
        argument = f"{name}_in_c"
        return Form(name, "logical, intent(out)", interface, declared, argument=argument, flag=True)
    if type_ in INTEGERS:
        dummy, interface = INTEGERS[type_]
        return Form(name, f"{dummy}, intent(out)", f"{interface}, intent(inout)", declared)
    if type_ in ("MPI_Request", "MPI_Win"):
        return Form(
            name,
            f"type({type_}), intent(out)",
            "integer(c_int), intent(inout)",
            f"int* {name}",
            argument=f"{name}%MPI_VAL",
            c_argument=f"&{name}_in_c",
            handle=type_,
        )
    if type_ == "MPI_Status":
        return Form(
            name,
            "type(MPI_Status)",
            "type(*), intent(inout)",
            f"MPI_Status* {name}, const MPI_Status* ignored",
            argument=f"{name}, MPI_STATUS_IGNORE",
            c_argument=f"{name} == ignored ? MPI_STATUS_IGNORE : {name}",
            status=True,
        )
    raise no_form(name, type_)


def no_form(name: str, type_: str) -> Fault:
    return Fault(f"fortran.py has no form for the parameter {name} of type {type_}.")


def forms(call: Call, table: Table) -> list[Form]:
    return [make_form(call, each, table) for each in call.parameters]


# The functions in C


def fortran_calls(table: Table, made: str) -> str:
    """Those that the module calls: they convert handles, and call the public functions by the names
    that tools wrap."""
    lines = [
        f"// {made}",
        "// The functions that the Fortran module calls. Each `ORIEL_x_f08` converts the handles",
        "// and calls `ORIEL_x`, which a tool may wrap.",
        "#include <oriel/oriel.h>",
        "",
        '#include "mpi/runtime/fortran_arguments.hpp"',
        "",
        "using namespace oriel::mpi;",
        "",
    ]
    for call in ours(table):
        lines += [*c_function(call, table), ""]
    return "\n".join(lines[:-1]) + "\n"


def c_function(call: Call, table: Table) -> list[str]:
    parameters = forms(call, table)
    begin = f"ORIEL_FORTRAN_CALL({entry(call.name)})({', '.join(each.c for each in parameters)}) {{"
    arguments = ", ".join(each.c_argument or each.name for each in parameters)
    body = c_sections(call, parameters)
    returned = []
    for at, each in enumerate(parameters):
        if not each.handle:
            continue
        if each.shape:
            body.append(c_array(call, parameters, at))
        else:
            returned.append(each)
            body.append(f"{each.handle} {each.name}_in_c = {null_handle(each.handle)};")
    called = f"{call.name}({arguments});"
    if not returned:
        body.append(f"return {called}")
    else:
        body.append(f"const int code = {called}")
        for each in returned:
            converted = to_fortran(HANDLES[each.handle], f"{each.name}_in_c")
            body.append(f"if (code == MPI_SUCCESS) *{each.name} = {converted};")
        body.append("return code;")
    lines = [*break_at_commas(begin, indent="    ")]
    for line in body:
        lines += break_at_commas(f"  {line}", indent="      ")
    return [*lines, "}"]


def null_handle(type_: str) -> str:
    return f"{type_.upper()}_NULL"


def c_sections(call: Call, parameters: list[Form]) -> list[str]:
    """The lines that refuse array sections that are not contiguous."""
    buffers = [each.name for each in parameters if each.buffer]
    if not buffers:
        return []
    types = {each.kind.type: each.name for each in call.parameters if each.direction == "in"}
    owner = "Win" if "MPI_Win" in types else "Comm"
    handle = from_fortran(owner, types[f"MPI_{owner}"])
    on = f"on_{owner.lower()}"
    return [
        f"if (must_refuse_{on}({{{', '.join(buffers)}}}))",
        f'  return refuse_{on}("{call.name}", {handle});',
    ]


def c_array(call: Call, parameters: list[Form], at: int) -> str:
    """Handles of an array, which has no meaning where the buffer before it is MPI_IN_PLACE."""
    length = call.parameters[at].length
    if length != "comm" or parameters[at].handle != "MPI_Datatype":
        raise no_form(parameters[at].name, parameters[at].handle)
    name = parameters[at].name
    buffer = next(each.name for each in reversed(parameters[:at]) if each.buffer)
    comm = next(each.name for each in call.parameters if each.kind.type == "MPI_Comm")
    count = f"{buffer} == MPI_IN_PLACE ? 0 : ranks_of({from_fortran('Comm', comm)})"
    return f"const std::vector<MPI_Datatype> {name}_in_c = datatypes_in_c({name}, {count});"


# The module


def module(table: Table, headers: list[Header], sources: dict[str, str], made: str) -> str:
    """The source of the module. `sources`: the text of the headers by name."""
    by_name = {header.name: header for header in headers}
    calls = ours(table)
    included = sorted({call.group.header for call in calls})
    constants = [each for name in included for each in read_constants(sources[name])]
    body: list[str] = []
    for each in constants:
        body += define(each)
    body.append("")
    for call in table.calls:
        if call.name.startswith("ORIEL_"):
            body += [line for each in (call, *call.twins) for line in generic(each, call)]
    body.append("  interface")
    for call in calls:
        body += interface(call, table)
    body += [*ADDRESS_INTERFACE.splitlines(), "  end interface", "", "contains", ""]
    for call in calls:
        body += [*procedure(call, table, by_name[call.group.header]), ""]
    body += [*ADDRESS.splitlines(), "", "end module"]
    public = ", ".join([*[each.name for each in constants], *[call.name for call in calls]])
    lines = [
        *HEAD.format(made=made).splitlines(),
        "  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_intptr_t, c_loc, &",
        "      c_null_char, c_ptr",
        *continued(f"use mpi_f08, only: {', '.join(names_of_mpi(body))}", "  "),
        "  implicit none",
        "  private",
        *continued(f"public :: {public}", "  "),
        "",
    ]
    return "\n".join([*lines, *body]) + "\n"


def names_of_mpi(lines: list[str]) -> list[str]:
    """The names of mpi_f08 that these lines use."""
    code = "\n".join(re.sub(r"\"[^\"]*\"|!.*", "", line) for line in lines)
    return sorted(set(re.findall(r"\bMPI_[A-Z]\w*", code)) - {"MPI_VAL"})


def generic(each: Call, call: Call) -> list[str]:
    """ORIEL_x and ORIEL_x_c have one name, as in mpi_f08."""
    large = next((twin for twin in call.twins if twin.name == f"{each.name}_c"), None)
    if large is None:
        return []
    return [
        f"  interface {each.name}",
        f"    module procedure {each.name}, {large.name}",
        "  end interface",
        "",
    ]


def continued(statement: str, indent: str) -> list[str]:
    """A statement, broken behind commas where it is long."""
    lines = break_at_commas(statement, COLUMNS - len(indent) - len("     &"))
    ends = [" &"] * (len(lines) - 1) + [""]
    starts = [indent] + [f"{indent}    "] * (len(lines) - 1)
    return [start + line + end for start, line, end in zip(starts, lines, ends)]


def interface(call: Call, table: Table) -> list[str]:
    parameters = forms(call, table)
    names = [f"{each.name}, ignored" if each.status else each.name for each in parameters]
    ends = f'bind(C, name="{entry(call.name)}") result(code)'
    lines = continued(f"function c_{short(call).lower()}({', '.join(names)})", "    ")
    lines = [*lines[:-1], f"{lines[-1]} &", f"        {ends}", "      import"]
    for each in parameters:
        lines.append(f"      {each.interface} :: {each.name}{each.shape}")
        if each.status:
            lines.append("      type(*), intent(in) :: ignored")
    return [*lines, "      integer(c_int) :: code", "    end function"]


def procedure(call: Call, table: Table, header: Header) -> list[str]:
    parameters = forms(call, table)
    lines = [f"  !> {line}" for line in textwrap.wrap(about(call, table, header), COLUMNS - 5)]
    if is_function(call):
        return [
            *lines,
            f"  function {call.name}() result(code)",
            "    integer :: code",
            f"    code = c_{short(call).lower()}()",
            "  end function",
        ]
    names = ", ".join([*[each.name for each in parameters], "ierror"])
    lines += continued(f"subroutine {call.name}({names})", "  ")
    lines += [f"    {each.dummy} :: {each.name}{each.shape}" for each in parameters]
    lines += ["    integer, optional, intent(out) :: ierror", "    integer(c_int) :: code"]
    flags = [each.name for each in parameters if each.flag]
    lines += [f"    integer(c_int) :: {name}_in_c" for name in flags]
    lines += [f"    {name}_in_c = 0" for name in flags]
    arguments = ", ".join(each.argument or each.name for each in parameters)
    lines += continued(f"code = c_{short(call).lower()}({arguments})", "    ")
    lines += [f"    {name} = {name}_in_c /= 0" for name in flags]
    return [*lines, "    if (present(ierror)) ierror = code", "  end subroutine"]


def about(call: Call, table: Table, header: Header) -> str:
    """The comment at a procedure: the call's meaning, whether it waits for other ranks, and the
    header that describes the call."""
    parent = next(each for each in table.calls if call in (each, *each.twins))
    sentences = [f"{call.meaning[0].upper()}{call.meaning[1:]}."]
    if len(call.parameters) > len(parent.parameters):
        sentences.append("With a request.")
    if call.large:
        sentences.append("With large counts.")
    own = sentence("(Local|Collective|Does not block|The call blocks)", header.docs[call.name])
    of_all = sentence("(No call blocks|All calls are local|Each call is collective)", header.text)
    return " ".join([*sentences, *(own or of_all), f"See {header.name}."])


def sentence(beginning: str, text: str) -> list[str]:
    """The first one that begins so, if there is any."""
    all_ = [" ".join(each.split()) for each in re.split(r"\n - |(?<=\.)\s", text)]
    return [each for each in all_ if re.match(rf"{beginning}\b", each)][:1]


# Constants


@dataclass(frozen=True)
class Constant:
    name: str
    value: str  # as the header has it
    # Where MPI_MAX_INFO_KEY is not above `limit`, another value; 0: there is none.
    limit: int = 0
    otherwise: str = ""


def read_constants(source: str) -> list[Constant]:
    """The macros of a header that are numbers or strings."""
    found: dict[str, Constant] = {}
    limit = 0
    for line in source.splitlines():
        condition = re.fullmatch(r"#if MPI_MAX_INFO_KEY > (\d+)", line)
        if condition:
            limit = int(condition[1])
        elif line == "#endif":
            limit = 0
        defined = re.fullmatch(r"#define (ORIEL_\w+) (\S.*)", line)
        if not defined or defined[2].endswith("()"):
            continue
        name, value = defined.groups()
        if name in found:
            found[name] = replace(found[name], otherwise=value)
        else:
            found[name] = Constant(name, value, limit)
    return list(found.values())


def define(constant: Constant) -> list[str]:
    """In Fortran."""
    name, value = constant.name, constant.value
    if constant.limit:
        width = max(len(value), len(constant.otherwise))
        first, second = (f'{each[:-1]:<{width - 1}}"' for each in (value, constant.otherwise))
        return [
            f"  character(len=*), parameter :: {name} = trim(merge( &",
            f"      {first}, &",
            f"      {second}, &",
            # Fortran's MPI_MAX_INFO_KEY is C's less one.
            f"      MPI_MAX_INFO_KEY >= {constant.limit}))",
        ]
    if value.startswith('"'):
        lines = [f"  character(len=*), parameter :: {name} = {value}"]
        return lines if len(lines[0]) <= COLUMNS else [lines[0].replace("= ", "= &\n      ")]
    return [f"  integer, parameter :: {name} = {number(name, value)}"]


def number(name: str, text: str) -> int:
    shifted = re.fullmatch(r"\((\d+) << (\d+)\)", text)
    if shifted:
        return int(shifted[1]) << int(shifted[2])
    try:
        return int(text, 0)
    except ValueError as error:
        raise Fault(f"fortran.py does not understand {name}, {text}.") from error
