#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes headers, definitions of blocking calls, the Fortran module and man pages from the table of
calls, calls.ini, and from the documentation in the public headers. The build calls it; Python's
standard library is all that it needs."""

from __future__ import annotations

import argparse
import configparser
import itertools
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import fortran

FOLDER = Path(__file__).resolve().parent
TABLE = FOLDER / "calls.ini"
HEADERS = FOLDER.parents[2] / "include" / "oriel"
COLUMNS = 100
MAN_COLUMNS = 72  # of the 80 of a terminal, behind an indent
ERROR_CODE = "an error code, MPI_SUCCESS if there was no error"
LARGE_COUNTS = "ORIEL_HOST_LARGE_COUNTS"
# Lengths that are no parameters.
LENGTHS = {
    "comm": "of the communicator's size",
    "indegree": "of the number of incoming neighbours",
    "outdegree": "of the number of outgoing neighbours",
}


class Fault(Exception):
    """What is wrong with the table or a header, and where."""


@dataclass(frozen=True)
class Kind:
    type: str
    large_type: str
    meaning: str


@dataclass(frozen=True)
class Parameter:
    kind: Kind
    direction: str
    name: str
    length: str  # of an array or string: a parameter, or what the communicator has; or empty

    def declaration(self, type_: str) -> str:
        """In C, where one element has this type."""
        is_input = self.direction == "in"
        if type_.startswith("const ") or type_ == "void*":  # a pointer already
            return f"{type_ if is_input else type_.replace('const ', '')} {self.name}"
        if self.length:
            return f"{'const ' if is_input else ''}{type_} {self.name}[]"
        return f"{type_}{'' if is_input else '*'} {self.name}"


@dataclass(frozen=True)
class Group:
    name: str = ""
    header: str = ""  # none: MPI's calls
    when: str = ""
    sweeps_if: str = ""  # none: the calls are defined by hand


@dataclass(frozen=True)
class Call:
    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    group: Group
    when: str  # the macro of the hosts that have the call; none: all of them
    result: str = ERROR_CODE
    large: bool = False
    twins: tuple[Call, ...] = ()

    def declarations(self) -> str:
        return ", ".join(
            each.declaration(each.kind.large_type if self.large else each.kind.type)
            for each in self.parameters
        )

    def prototype(self, prefix: str = "") -> str:
        return f"int {prefix}{self.name}({self.declarations() or 'void'});"


# Reading the table


class Table:
    """What calls.ini says."""

    def __init__(self, text: str) -> None:
        parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
        try:
            parser.read_string(text, TABLE.name)
            self.kinds = {name: read_kind(name, each) for name, each in parser["kinds"].items()}
            self.blocks: dict[str, tuple[Parameter, ...]] = {}
            for name, each in parser["blocks"].items():
                self.blocks[name] = self.parameters(each, f"block {name}")
        except configparser.Error as error:
            raise Fault(f"{TABLE.name}: {error}") from error
        self.operations = [
            name for name, each in parser["blocks"].items() if split(each)[0] in self.blocks
        ]
        self.calls: list[Call] = []  # without their twins
        group = Group()
        for section in parser.sections()[2:]:
            options = dict(parser[section])
            if is_call(section):
                self.calls.append(self.read_call(section, options, group))
            else:
                keys = ("header", "when", "sweeps_if")
                group = Group(section, *[options.pop(key, "") for key in keys])
            if options:
                raise Fault(f"{TABLE.name}, {section}: `{next(iter(options))}` has no meaning.")
        names = [each.name for call in self.calls for each in (call, *call.twins)]
        for name in names:
            if names.count(name) > 1:
                raise Fault(f"{TABLE.name} has {name} twice.")

    def parameters(self, text: str, where: str) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        for spec in split(text):
            if spec in self.blocks:
                found += self.blocks[spec]
                continue
            match = re.fullmatch(r"(?:(in|out|inout) )?(\w+)(?: (\w+)(?:\[(\w+)\])?)?", spec)
            if not match or match[2] not in self.kinds:
                raise Fault(
                    f"{TABLE.name}, {where}: `{spec}` is neither one of [blocks] nor "
                    "`[in|out|inout] kind name[length]` with one of [kinds]."
                )
            direction, kind, name, length = match.groups()
            found.append(Parameter(self.kinds[kind], direction or "in", name or kind, length or ""))
        names = [each.name for each in found]
        known = {*names, *LENGTHS, ""}
        faults = [f"length {each.length}" for each in found if each.length not in known]
        faults += [f"second {name}" for name in names if names.count(name) > 1]
        if faults:
            raise Fault(f"{TABLE.name}, {where}: there must be no {faults[0]}.")
        return tuple(found)

    def read_call(self, name: str, options: dict[str, str], group: Group) -> Call:
        if not options.get("is"):
            raise Fault(f"{TABLE.name}, {name}: `is` has to say what the call does.")
        call = Call(
            name,
            options.pop("is"),
            self.parameters(options.pop("parameters", ""), name),
            group,
            group.when,
            options.pop("result", ERROR_CODE),
        )
        twins = [self.make_twin(call, each) for each in split(options.pop("twins", ""))]
        return replace(call, twins=tuple(twins))

    def make_twin(self, call: Call, name: str) -> Call:
        large = name.endswith("_c")
        prefix, _, short = call.name.partition("_")
        with_request = f"{prefix}_R{short[0].lower()}{short[1:]}"
        base = name[:-2] if large else name
        if name == call.name or base not in (call.name, with_request):
            raise Fault(
                f"{TABLE.name}, {call.name}: its twins are {call.name}_c, {with_request} and "
                f"{with_request}_c, but not {name}."
            )
        parameters = call.parameters
        if base == with_request:
            parameters += self.parameters("out request", name)
        when = LARGE_COUNTS if large and not call.group.header else call.when
        return replace(call, name=name, parameters=parameters, when=when, large=large)

    def all_calls(self, *headers: str) -> list[Call]:
        """With twins: those of these headers, or without any those of MPI."""
        return [
            each
            for call in self.calls
            if call.group.header in (headers or ("",))
            for each in (call, *call.twins)
        ]


def split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def read_kind(name: str, text: str) -> Kind:
    types, _, meaning = text.partition(": ")
    type_, _, large_type = (each.strip() for each in types.partition("|"))
    if not meaning:
        raise Fault(f"{TABLE.name}: the kind {name} has to say `type: meaning`, not `{text}`.")
    return Kind(type_, large_type or type_, meaning)


def is_call(section: str) -> bool:
    return re.match(r"(MPIX?|ORIEL)_", section) is not None


# Reading the public headers


@dataclass(frozen=True)
class Header:
    name: str
    text: str  # that of @file
    prototypes: dict[str, str]  # by the names of calls, each in one line
    docs: dict[str, str]  # of a call, or where it has none of its own, of its section


def read_header(name: str, source: str) -> Header:
    text, section, own = "", "", ""
    prototypes: dict[str, str] = {}
    docs: dict[str, str] = {}
    tokens = r"/\*(?P<comment>.*?)\*/|^\s*#[^\n]*|^int (?P<name>\w+)\([^;]*\);"
    for token in re.finditer(tokens, source, re.S | re.M):
        if token["comment"] is not None:
            comment = re.sub(r"^ ?\* ?", "", token["comment"], flags=re.M)
            if "@file" in comment:
                text = comment.split("@file", 1)[1].partition("\n")[2].strip("\n ")
            elif token["comment"].startswith("*"):
                own = comment.strip()
            else:
                section = comment.strip()
        elif token["name"]:
            prototypes[token["name"]] = " ".join(token[0].split())
            docs[token["name"]] = own or section
            own = ""
        else:
            own = ""  # a macro's
    return Header(name, text, prototypes, docs)


def check_all(table: Table, headers: list[Header]) -> None:
    names = {header.name for header in headers}
    for call in table.calls:
        if call.group.header and call.group.header not in names:
            raise Fault(f"{TABLE.name}, {call.group.name}: there is no {call.group.header}.")
    for header in headers:
        if not header.name.endswith("_names.h"):  # which only gives calls other names
            check(table, header)


def check(table: Table, header: Header) -> None:
    """The header declares the calls that the table says, as the table says."""
    expected = {call.name: call.prototype() for call in table.all_calls(header.name)}
    for name, found in header.prototypes.items():
        if name not in expected:
            raise Fault(f"{header.name} declares {name}, which is not in {TABLE.name}.")
        if found != expected[name]:
            raise Fault(
                f"{header.name} and {TABLE.name} differ on a call; the header says\n  {found}\n"
                f"and the table\n  {expected[name]}"
            )
        if not header.docs[name]:
            raise Fault(f"{header.name} does not say what {name} does.")
    for name in expected:
        if name not in header.prototypes:
            raise Fault(f"{TABLE.name} has {name}, which {header.name} does not declare.")


# Headers


MADE = f"Made from src/boundary/calls/{TABLE.name} by {Path(__file__).name}; edit the table."


def break_at_commas(text: str, columns: int, indent: str = "") -> list[str]:
    held = re.sub(r"(?<!,) ", "\0", text)
    lines = textwrap.wrap(held, columns, subsequent_indent=indent, break_long_words=False)
    return [line.replace("\0", " ") for line in lines]


def wrap(prototype: str, columns: int = COLUMNS) -> str:
    """As clang-format breaks it."""
    return "\n".join(break_at_commas(prototype, columns, " " * (prototype.index("(") + 1)))


def conditional(calls: list[Call], line: Callable[[Call], str]) -> list[str]:
    """A line or more for each call, with the group's name, for the hosts that have it."""
    lines: list[str] = []
    for (group, when), members in itertools.groupby(calls, lambda call: (call.group, call.when)):
        lines += [f"// {group.name}", *([f"#if {when}"] if when else [])]
        lines += [line(call) for call in members]
        lines += ["#endif"] if when else []
    return lines


def large_last(calls: list[Call]) -> list[Call]:
    """Those with large counts behind the others, each in the table's order."""
    return sorted(calls, key=lambda call: call.when == LARGE_COUNTS)


def host_calls(table: Table) -> str:
    calls = large_last(table.all_calls())
    return "\n".join(
        [
            f"// {MADE}",
            "#pragma once",
            "",
            '#include "boundary/host/host.hpp"',
            "",
            "// MPI's calls that are interposed, as the table has them. A prototype that differs",
            "// from the host's mpi.h does not compile.",
            "// NOLINTBEGIN(readability-redundant-declaration)",
            'extern "C" {',
            *conditional(
                calls,
                lambda call: f"{wrap(call.prototype())}\ndecltype(MPI_{short(call)}) P{call.name};",
            ),
            "}",
            "// NOLINTEND(readability-redundant-declaration)",
            "",
            "namespace oriel::boundary {",
            "",
            "/// The host's own functions of these names. All others are called as PMPI_.",
            "struct HostMpi {",
            "  HostMpi();",
            *conditional(calls, lambda call: f"  decltype(&P{call.name}) {short(call)};"),
            "",
            "  /// find(member, name of the host's function), for each.",
            "  template <typename Find>",
            "  void for_each(const Find& find) {",
            *conditional(calls, lambda call: f'    find({short(call)}, "P{call.name}");'),
            "  }",
            "};",
            "",
            "}  // namespace oriel::boundary",
            "",
        ]
    )


def short(call: Call) -> str:
    return call.name.partition("_")[2]


def operation_parameters(table: Table) -> str:
    lines = [
        f"// {MADE}",
        "#pragma once",
        "",
        "// The parameters of the operations that take counts, and their names.",
    ]
    for name in table.operations:
        declarations, names = [], []
        for each in table.blocks[name]:
            counted = each.kind.type != each.kind.large_type
            declarations.append(each.declaration("Count" if counted else each.kind.type))
            names.append(each.name)
        macro = f"ORIEL_{name.upper()}"
        for head, words in ((f"{macro}(Count)", declarations), (f"{macro}_NAMES", names)):
            body = break_at_commas(", ".join(words), COLUMNS - len("   \\"))
            lines += ["", " \\\n  ".join([f"#define {head}", *body])]
    return "\n".join(lines) + "\n"


def blocking_calls(table: Table) -> str:
    calls = large_last([call for call in table.all_calls() if call.group.sweeps_if])
    return "\n".join(
        [
            f"// {MADE}",
            "// Where the condition holds, a blocking call is its nonblocking form and a wait that",
            "// sweeps (boundary/progress/sweeping.hpp).",
            '#include "boundary/host/host_mpi.hpp"',
            '#include "boundary/progress/sweeping.hpp"',
            "",
            "using namespace oriel::boundary;",
            "",
            *conditional(calls, blocking_call),
            "",
        ]
    )


def blocking_call(call: Call) -> str:
    name = short(call)
    on_comm = name.startswith("Comm_")
    form = name.replace("_", "_i", 1) if on_comm else f"I{name[0].lower()}{name[1:]}"
    names = [each.name for each in call.parameters]
    status = [each.name for each in call.parameters[-1:] if each.kind.type == "MPI_Status"]
    arguments = [*names[: len(names) - len(status)], "request"]
    lines = (
        f"ORIEL_MPI_CALL({name})({call.declarations()}) {{",
        f"  if (!{call.group.sweeps_if}) return host_mpi().{name}({', '.join(names)});",
        "  return sweep_until_done([&](MPI_Request* request) {",
        f"    return PMPI_{form}({', '.join(arguments)});",
        f"  }}{', '.join(['', *status])});",
        "}",
    )
    return "\n".join(part for line in lines for part in break_at_commas(line, COLUMNS, "        "))


def profiling_header(table: Table, name: str, includes: list[str]) -> str:
    """The second names of the calls that these headers declare."""
    guard = re.sub(r"\W", "_", name).upper()
    lines = [
        "/* SPDX-License-Identifier: BSD-3-Clause */",
        f"/* {MADE} */",
        "/* The names by which tools call the functions that they wrap. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *[f"#include <{each}>" for each in includes],
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *[wrap(call.prototype("P")) for call in table.all_calls(*includes)],
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


# Man pages


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fI\1\\fP", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text: str) -> list[str]:
    """Of a comment: paragraphs, and lists whose items begin with ` - `."""
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        first, *items = re.split(r"(?:^|\n) - ", part)
        if first.strip():
            lines += [".PP", roff(" ".join(first.split()))]
        for item in items:
            lines += [r".IP \(bu 2", roff(" ".join(item.split()))]
    return lines


def man_page(call: Call, header: Header, siblings: list[Call], version: str) -> str:
    calls = (call, *call.twins)
    names = [each.name for each in calls]
    lines = [
        rf".\" {MADE}",
        f'.TH {call.name} 3 "" "Oriel {version}" "Oriel"',
        ".SH NAME",
        rf"{', '.join(names)} \- {roff(call.meaning)}",
        ".SH SYNOPSIS",
        ".nf",
        f"#include <{header.name}>",
    ]
    for each in calls:
        lines += [".sp", roff(wrap(each.prototype(), MAN_COLUMNS))]
    lines += [".fi"]
    if calls[-1].parameters:
        lines += [".SH PARAMETERS"]
    longest = max(calls, key=lambda each: len(each.parameters))
    for each in longest.parameters:
        length = LENGTHS.get(each.length, f"`{each.length}`")
        several = f"; the array or string has the length {length}" if each.length else ""
        direction = {"in": "", "out": " (output)", "inout": " (input and output)"}[each.direction]
        lines += [".TP", rf"\fI{each.name}\fP{direction}", roff(each.kind.meaning + several)]
    lines += [".SH RETURN VALUE", f"Returns {call.result}."]
    lines += [".SH DESCRIPTION", *paragraphs(header.docs[call.name])]
    by_text: dict[str, list[str]] = {}
    for each in call.twins:
        by_text.setdefault(header.docs[each.name], []).append(each.name)
    for text, twins in by_text.items():
        lines += [f".SS {', '.join(twins)}", *paragraphs(text)]
    lines += [f".SH ALL CALLS OF {header.name}", *paragraphs(header.text)]
    others = [f".BR {each.name} (3)" for each in siblings if each is not call]
    lines += [".SH SEE ALSO", *[f"{each}," for each in others[:-1]], *others[-1:]] if others else []
    return "\n".join(lines) + "\n"


def man_pages(table: Table, headers: list[Header], version: str) -> dict[str, str]:
    """Of our own calls, by file name; a twin's refers to that of its call."""
    pages: dict[str, str] = {}
    for header in headers:
        siblings = [call for call in table.calls if call.group.header == header.name]
        for call in siblings:
            if not call.name.startswith("ORIEL_"):
                continue
            pages[f"{call.name}.3"] = man_page(call, header, siblings, version)
            for twin in call.twins:
                pages[f"{twin.name}.3"] = f".so man3/{call.name}.3\n"
    return pages


# Writing


def write(path: Path, text: str) -> None:
    """What is the same stays as it is, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("version", help="of the library")
    options = parser.parse_args()
    table = Table(TABLE.read_text(encoding="utf-8"))
    sources = {
        f"oriel/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(HEADERS.glob("*.h"))
    }
    headers = [read_header(name, source) for name, source in sources.items()]
    check_all(table, headers)
    folder = options.output
    write(folder / "src/boundary/calls/host_calls.hpp", host_calls(table))
    write(folder / "src/boundary/calls/operation_parameters.hpp", operation_parameters(table))
    write(folder / "src/boundary/calls/blocking_calls.cpp", blocking_calls(table))
    write(folder / "src/boundary/calls/fortran_calls.cpp", fortran.fortran_calls(table, MADE))
    write(folder / "fortran/oriel.f90", fortran.module(table, headers, sources, MADE))
    ours = sorted({call.group.header for call in table.calls if call.name.startswith("ORIEL_")})
    for name, includes in (("profiling.h", ours), ("intel_profiling.h", ["oriel/intel_notify.h"])):
        text = profiling_header(table, f"oriel/{name}", includes)
        write(folder / "include/oriel" / name, text)
    pages = man_pages(table, headers, options.version)
    for name, text in pages.items():
        write(folder / "man/man3" / name, text)
    for path in (folder / "man/man3").iterdir():
        if path.name not in pages:
            path.unlink()


if __name__ == "__main__":
    try:
        main()
    except (Fault, fortran.FortranFault) as fault:
        sys.exit(f"generate.py: {fault}")
