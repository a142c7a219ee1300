#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes headers, definitions of blocking calls, the Fortran module and man pages from the table of
calls, calls.ini, and from the documentation in the public headers. The build calls it; Python's
standard library is all that it needs."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path

import fortran
from table import (
    COLUMNS,
    HEADERS,
    LARGE_COUNTS,
    LENGTHS,
    MADE,
    TABLE,
    Call,
    Fault,
    Header,
    Table,
    blocks,
    break_at_commas,
    check_all,
    public_headers,
    read_header,
    short,
    split,
    wrap,
)

# Types of calls with large counts, and what the macros of parameters call them.
LARGE = {"MPI_Count": "Count", "MPI_Aint": "Displacement"}
MAN_COLUMNS = 72  # of the 80 of a terminal, behind an indent

# Headers


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


def used_functions(table: Table) -> list[tuple[str, str]]:
    """Functions of the host that Oriel calls and does not define, without MPI_, with the macro of
    the hosts whose mpi.h declares them; each once."""
    used = {
        name: LARGE_COUNTS if name.endswith("_c") else group.when
        for group in table.groups
        for name in split(group.uses)
    }
    for call in table.all_calls():
        if call.group.sweeps_if:
            used.setdefault(nonblocking_form(call), call.when)
    return list(used.items())


def host_calls(table: Table) -> str:
    calls = large_last(table.all_calls())
    used = sorted(used_functions(table), key=lambda each: (each[1], each[0]))

    def of_used(line: Callable[[str], str]) -> list[str]:
        lines: list[str] = []
        for when, members in itertools.groupby(used, lambda each: each[1]):
            lines += [f"#if {when}"] if when else []
            lines += [line(name) for name, _ in members]
            lines += ["#endif"] if when else []
        return lines

    return "\n".join(
        [
            f"// {MADE}",
            "#pragma once",
            "",
            '#include "mpi/host/host.hpp"',
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
            "namespace oriel::mpi {",
            "",
            "/// The host's functions.",
            "struct HostMpi {",
            "  HostMpi();",
            *conditional(calls, lambda call: f"  decltype(&P{call.name}) {short(call)};"),
            "// only called",
            *of_used(lambda name: f"  decltype(&PMPI_{name}) {name};"),
            "",
            "  /// find(member, name of the host's function), for each.",
            "  template <typename Find>",
            "  void for_each(const Find& find) {",
            *conditional(calls, lambda call: f'    find({short(call)}, "P{call.name}");'),
            *of_used(lambda name: f'    find({name}, "PMPI_{name}");'),
            "  }",
            "};",
            "",
            "}  // namespace oriel::mpi",
            "",
        ]
    )


def parameters(table: Table) -> str:
    lines = [
        f"// {MADE}",
        "#pragma once",
        "",
        "// The parameters that many calls share, and their names. The macros take the types in",
        "// which the calls with large counts differ.",
    ]
    for name, block in table.blocks.items():
        declarations, types = [], {}
        for each in block:
            type_ = each.kind.type
            if type_ != each.kind.large_type:
                type_ = types.setdefault(each.kind.large_type, LARGE[each.kind.large_type])
            declarations.append(each.declaration(type_))
        macro = f"ORIEL_{name.upper()}"
        taken = f"({', '.join(types.values())})" if types else ""
        names = [each.name for each in block]
        for head, words in ((f"{macro}_ARGS{taken}", declarations), (f"{macro}_NAMES", names)):
            body = break_at_commas(", ".join(words), COLUMNS - len("   \\"))
            lines += ["", " \\\n  ".join([f"#define {head}", *body])]
    return "\n".join(lines) + "\n"


def blocking_calls(table: Table) -> str:
    calls = large_last([call for call in table.all_calls() if call.group.sweeps_if])
    return "\n".join(
        [
            f"// {MADE}",
            "// Where the condition holds, a blocking call is its nonblocking form and a wait that",
            "// sweeps (mpi/progress/waits.hpp).",
            '#include "mpi/host/host_mpi.hpp"',
            '#include "mpi/progress/waits.hpp"',
            "",
            "using namespace oriel::mpi;",
            "",
            *conditional(calls, blocking_call),
            "",
        ]
    )


def nonblocking_form(call: Call) -> str:
    name = short(call)
    on_comm = name.startswith("Comm_")
    return name.replace("_", "_i", 1) if on_comm else f"I{name[0].lower()}{name[1:]}"


def blocking_call(call: Call) -> str:
    name = short(call)
    names = [each.name for each in call.parameters]
    status = [each.name for each in call.parameters[-1:] if each.kind.type == "MPI_Status"]
    arguments = [*names[: len(names) - len(status)], "request"]
    lines = (
        f"ORIEL_MPI_CALL({name})({call.declarations()}) {{",
        "  return call_host([&] {",
        f"    if (!{call.group.sweeps_if}) return host_mpi().{name}({', '.join(names)});",
        "    return sweep_until_done([&](MPI_Request* request) {",
        f"      return host_mpi().{nonblocking_form(call)}({', '.join(arguments)});",
        f"    }}{', '.join(['', *status])});",
        "  });",
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
    lines: list[str] = []
    for is_item, block in blocks(text):
        lines += [r".IP \(bu 2" if is_item else ".PP", roff(block)]
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
    """An unchanged file is not written, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("version", help="of the library")
    options = parser.parse_args()
    table = Table(TABLE.read_text(encoding="utf-8"))
    sources = public_headers(table)
    headers = [read_header(name, source) for name, source in sources.items()]
    check_all(table, headers)
    folder = options.output
    write(folder / "src/mpi/calls/host_calls.hpp", host_calls(table))
    write(folder / "src/mpi/calls/parameters.hpp", parameters(table))
    write(folder / "src/mpi/calls/blocking_calls.cpp", blocking_calls(table))
    write(folder / "src/mpi/calls/fortran_calls.cpp", fortran.fortran_calls(table, MADE))
    write(folder / "fortran/oriel.f90", fortran.module(table, headers, sources, MADE))
    ours = sorted({call.group.header for call in table.calls if call.name.startswith("ORIEL_")})
    for name, includes in (("profiling.h", ours), ("intel_profiling.h", ["oriel/intel_notify.h"])):
        text = profiling_header(table, f"oriel/{name}", includes)
        write(folder / "include/oriel" / name, text)
    for path in HEADERS.glob("*.h.in"):
        write(folder / "include/oriel" / path.stem, sources[f"oriel/{path.stem}"])
    pages = man_pages(table, headers, options.version)
    for name, text in pages.items():
        write(folder / "man/man3" / name, text)
    for path in (folder / "man/man3").iterdir():
        if path.name not in pages:
            path.unlink()


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(f"generate.py: {fault}")
