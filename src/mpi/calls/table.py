# SPDX-License-Identifier: BSD-3-Clause
"""The table of calls, calls.ini, and the public headers as Python reads them."""

from __future__ import annotations

import configparser
import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TABLE = FOLDER / "calls.ini"
HEADERS = FOLDER.parents[2] / "include" / "oriel"
COLUMNS = 100
ERROR_CODE = "an error code, MPI_SUCCESS if there was no error"
MADE = f"Made from src/mpi/calls/{TABLE.name} by generate.py; edit the table."
LARGE_COUNTS = "ORIEL_HOST_LARGE_COUNTS"
# Lengths that are no parameters.
LENGTHS = {
    "comm": "of the communicator's size",
    "indegree": "of the number of incoming neighbours",
    "outdegree": "of the number of outgoing neighbours",
}


class Fault(Exception):
    """A fault of the table or of a header. Its text says where it is."""


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
    aliases: str = ""
    twins: str = ""
    uses: str = ""


@dataclass(frozen=True)
class Call:
    name: str
    meaning: str  # none: MPI says what the call does
    parameters: tuple[Parameter, ...]
    group: Group
    when: str  # the macro of the hosts that have the call; none: all of them
    result: str = ERROR_CODE
    large: bool = False
    twins: tuple[Call, ...] = ()
    aliases: tuple[str, ...] = ()  # prefixes that stand for that of `name`, and whole names
    aliased_in: str = ""  # the header that has the aliases

    def declarations(self) -> str:
        return ", ".join(
            each.declaration(each.kind.large_type if self.large else each.kind.type)
            for each in self.parameters
        )

    def prototype(self, prefix: str = "") -> str:
        return f"int {prefix}{self.name}({self.declarations() or 'void'});"

    def alias(self, alias: str) -> Call:
        """The call under the other name that an entry of `aliases` gives it."""
        name = f"{alias}{short(self)}" if alias.endswith("_") else alias
        return replace(self, name=name)


# Reading the table


class Table:
    """The contents of calls.ini."""

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
        self.calls: list[Call] = []  # without their twins
        self.groups: list[Group] = []
        group = Group()
        for section in parser.sections()[2:]:
            options = dict(parser[section])
            if is_call(section):
                self.calls.append(self.read_call(section, options, group))
            else:
                keys = ("header", "when", "sweeps_if", "aliases", "twins", "uses")
                group = Group(section, *[options.pop(key, "") for key in keys])
                self.groups.append(group)
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
        if group.header and not options.get("is"):
            raise Fault(f"{TABLE.name}, {name}: `is` has to say what the call does.")
        call = Call(
            name,
            options.pop("is", ""),
            self.parameters(options.pop("parameters", ""), name),
            group,
            group.when,
            options.pop("result", ERROR_CODE),
        )
        header, _, aliases = options.pop("aliases", group.aliases).partition(":")
        call = replace(call, aliased_in=header.strip(), aliases=tuple(split(aliases)))
        differ = any(each.kind.type != each.kind.large_type for each in call.parameters)
        twins = [self.make_twin(call, form) for form in split(group.twins) if differ]
        return replace(call, twins=tuple(twins))

    def make_twin(self, call: Call, form: str) -> Call:
        if form not in ("_c", "R", "R_c"):
            raise Fault(f"{TABLE.name}, {call.name}: twins are _c, R and R_c, but not {form}.")
        name, parameters, large = call.name, call.parameters, form.endswith("_c")
        if form.startswith("R"):
            prefix, _, rest = name.partition("_")
            name = f"{prefix}_R{rest[0].lower()}{rest[1:]}"
            parameters += self.parameters("out request", name)
        if large:
            name += "_c"
        when = LARGE_COUNTS if large and not call.group.header else call.when
        aliases = tuple(each for each in call.aliases if each.endswith("_"))
        return replace(
            call, name=name, parameters=parameters, when=when, large=large, aliases=aliases
        )

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
    macros: dict[str, str]  # the documentation of macros; several may have one


def read_header(name: str, source: str) -> Header:
    text, section, own, of_macros = "", "", "", ""
    prototypes: dict[str, str] = {}
    docs: dict[str, str] = {}
    macros: dict[str, str] = {}
    tokens = r"/\*(?P<comment>.*?)\*/|^\s*#[^\n]*|^int (?P<name>\w+)\([^;]*\);"
    for token in re.finditer(tokens, source, re.S | re.M):
        if token["comment"] is not None:
            of_macros = ""
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
            own, of_macros = "", ""
        else:
            of_macros = of_macros or own
            own = ""
            defined = re.match(r"\s*#\s*define (\w+)", token[0])
            if defined and of_macros:
                macros[defined[1]] = of_macros
    return Header(name, text, prototypes, docs, macros)


def public_headers(table: Table) -> dict[str, str]:
    """The texts of the public headers. Those of papers' names are made from templates."""
    found = {path.name: path.read_text(encoding="utf-8") for path in HEADERS.glob("*.h")}
    for path in HEADERS.glob("*.h.in"):
        found[path.stem] = names_header(table, path.stem, path.read_text(encoding="utf-8"))
    return {f"oriel/{name}": found[name] for name in sorted(found)}


def names_header(table: Table, name: str, template: str) -> str:
    """In place of the line `@aliases`, the aliases of this header are declared, and defined as
    macros for the calls. In place of a line `@A_ = B_`, each word of the paragraph behind it is
    defined as a macro: A_word for B_word."""
    calls = [
        each for call in table.calls for each in (call, *call.twins) if call.aliased_in == name
    ]
    pairs = [
        (each.alias(alias), each)
        for alias in dict.fromkeys(alias for call in calls for alias in call.aliases)
        for each in calls
        if alias in each.aliases
    ]
    lines = [
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        *[wrap(alias.prototype()) for alias, _ in pairs],
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        *[f"#define {alias.name} {call.name}" for alias, call in pairs],
    ]

    def define(match: re.Match[str]) -> str:
        return "".join(f"#define {match[1]}{word} {match[2]}{word}\n" for word in match[3].split())

    first, _, others = template.partition("\n")
    text = re.sub(r"^@(\w+) = (\w+)\n((?:.+\n)+)", define, others, flags=re.M)
    return f"{first}\n/* {MADE} */\n" + text.replace("@aliases", "\n".join(lines))


def blocks(text: str) -> list[tuple[bool, str]]:
    """Of a comment: its paragraphs, and the items of its lists (True), which begin with ` - `."""
    found: list[tuple[bool, str]] = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        first, *items = re.split(r"(?:^|\n) - ", part)
        if first.strip():
            found.append((False, " ".join(first.split())))
        found += [(True, " ".join(item.split())) for item in items]
    return found


def check_all(table: Table, headers: list[Header]) -> None:
    names = {header.name for header in headers}
    for call in table.calls:
        if call.group.header and call.group.header not in names:
            raise Fault(f"{TABLE.name}, {call.group.name}: there is no {call.group.header}.")
        if call.aliases and f"oriel/{call.aliased_in}" not in names:
            raise Fault(f"{TABLE.name}, {call.name}: there is no oriel/{call.aliased_in}.")
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


# Lines of what is made


def break_at_commas(text: str, columns: int = COLUMNS, indent: str = "") -> list[str]:
    """Lines of C or Fortran. A conversion of a handle stays in one."""
    held = re.sub(r"(?<!,) ", "\0", re.sub(r"(_FORTRAN\(\w+,) ", "\\1\0", text))
    lines = textwrap.wrap(held, columns, subsequent_indent=indent, break_long_words=False)
    return [line.replace("\0", " ") for line in lines]


def wrap(prototype: str, columns: int = COLUMNS) -> str:
    """As clang-format breaks it."""
    return "\n".join(break_at_commas(prototype, columns, " " * (prototype.index("(") + 1)))


def short(call: Call) -> str:
    return call.name.partition("_")[2]
