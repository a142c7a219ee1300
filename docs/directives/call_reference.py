# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the calls in C and in Fortran, from the table of calls and the public headers,
from which the build makes the man pages and the Fortran module."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

import fortran
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from table import (
    HEADERS,
    LENGTHS,
    TABLE,
    Call,
    Header,
    Table,
    blocks,
    check_all,
    public_headers,
    read_header,
)

NAME = r"\b(?:P?ORIEL|P?MPIX?|foMPI)_\w+"


@dataclass(frozen=True)
class Reference:
    table: Table
    headers: dict[str, Header]
    sources: dict[str, str]

    def calls(self, header: str) -> list[Call]:
        """Those that it declares, without their twins."""
        return [call for call in self.table.calls if call.group.header == header]

    def text(self, plain: str) -> str:
        """A comment's text in reStructuredText: names of ours are links, other names are code."""
        return "".join(
            self.name(part) if is_name else re.sub(r"([\\*`|_])", r"\\\1", part)
            for is_name, part in split_at_names(plain)
        )

    def name(self, word: str) -> str:
        bare = word.strip("`")
        calls = {each.name for call in self.table.calls for each in (call, *call.twins)}
        if any(bare in header.macros for header in self.headers.values()):
            role = ":c:macro:"
        else:
            role = ":c:func:" if bare in calls and bare.startswith("ORIEL_") else ":code:"
        return rf"\ {role}`{bare}`\ "

    def paragraphs(self, comment: str) -> list[str]:
        lines: list[str] = []
        for is_item, block in blocks(comment):
            lines += [("- " if is_item else "") + self.text(block), ""]
        return lines


@functools.cache
def read_reference() -> Reference:
    table = Table(TABLE.read_text(encoding="utf-8"))
    sources = public_headers(table)
    headers = {name: read_header(name, source) for name, source in sources.items()}
    check_all(table, list(headers.values()))
    return Reference(table, headers, sources)


def split_at_names(text: str) -> Iterator[tuple[bool, str]]:
    at = 0
    for match in re.finditer(rf"`[^`]+`|{NAME}", text):
        yield False, text[at : match.start()]
        yield True, match[0]
        at = match.end()
    yield False, text[at:]


def indented(lines: list[str], spaces: int = 3) -> list[str]:
    return textwrap.indent("\n".join(lines), " " * spaces).splitlines()


def described(reference: Reference, call: Call) -> list[str]:
    """A call and its twins as an object of C."""
    calls = (call, *call.twins)
    header = reference.headers[call.group.header]
    first, *others = [each.prototype().removesuffix(";") for each in calls]
    lines = [f".. c:function:: {first}", *[f"              {other}" for other in others], ""]
    body = reference.paragraphs(header.docs[call.name])
    by_text: dict[str, list[str]] = {}
    for each in call.twins:
        by_text.setdefault(header.docs[each.name], []).append(each.name)
    for text, names in by_text.items():
        if text != header.docs[call.name]:
            listed = ", ".join(f":code:`{name}`" for name in names)
            first, *others = reference.paragraphs(text)
            body += [f"{listed}: {first}", *others]
    for each in max(calls, key=lambda each: len(each.parameters)).parameters:
        length = LENGTHS.get(each.length, f"`{each.length}`")
        several = f"; the array or string has the length {length}" if each.length else ""
        direction = {"in": "", "out": " (output)", "inout": " (input and output)"}[each.direction]
        meaning = reference.text(f"{each.kind.meaning}{several}")
        body.append(f":param {each.name}: {meaning}{direction}")
    body.append(f":returns: {reference.text(call.result)}")
    return [*lines, *indented(body), ""]


class OfHeader(SphinxDirective):
    """Something about a public header, whose name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        reference = read_reference()
        header = reference.headers[self.arguments[0]]
        self.env.note_dependency(str(TABLE))
        source = HEADERS.parent / header.name
        self.env.note_dependency(str(source if source.exists() else f"{source}.in"))
        return self.parse_text_to_nodes("\n".join(self.lines(reference, header)))

    def lines(self, reference: Reference, header: Header) -> list[str]:
        raise NotImplementedError


class HeaderText(OfHeader):
    """What the header says of all its calls."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        return reference.paragraphs(header.text)


class Macros(OfHeader):
    """The macros that have documentation, those that share it together."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        constants = fortran.read_constants(reference.sources[header.name])
        values = {each.name: each for each in constants}
        by_text: dict[str, list[str]] = {}
        for name, text in header.macros.items():
            by_text.setdefault(text, []).append(name)
        lines: list[str] = []
        for text, (first, *others) in by_text.items():
            lines += [f".. c:macro:: {first}", *[f"             {name}" for name in others], ""]
            shown = [self.definition(values[name]) for name in (first, *others)]
            body = [".. code-block:: c", "", *indented(shown), "", *reference.paragraphs(text)]
            lines += [*indented(body), ""]
        return lines

    def definition(self, constant: fortran.Constant) -> str:
        line = f"#define {constant.name} {constant.value}"
        if not constant.limit:
            return line
        return f"{line}  /* MPI_MAX_INFO_KEY <= {constant.limit}: {constant.otherwise} */"


class Calls(OfHeader):
    """The calls of the header, each with its twins."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        return [
            line for call in reference.calls(header.name) for line in described(reference, call)
        ]


class CallTable(OfHeader):
    """The calls of the header with what they do, in a line each."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        lines = [".. list-table::", "   :widths: 45 55", ""]
        for call in reference.calls(header.name):
            names = "; ".join(reference.name(each.name) for each in (call, *call.twins))
            lines += [f"   * - {names}", f"     - {reference.text(call.meaning)}"]
        return lines


class Names(OfHeader):
    """A header that gives calls other names: its text, and which name is which call."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        source = reference.sources[header.name]
        pairs = re.findall(r"^#define (\w+) (ORIEL_\w+)$", source, re.M)
        pairs += [
            (name, doc.split()[0].strip(".,"))
            for name, doc in header.docs.items()
            if doc.startswith("ORIEL_")
        ]
        pairs += re.findall(
            r"^static inline int (\w+)\([^)]*\) \{.*?(ORIEL_\w+)\(", source, re.M | re.S
        )
        lines = [*reference.paragraphs(header.text), ".. list-table::", "   :header-rows: 1", ""]
        lines += ["   * - name", "     - call of Oriel"]
        for name, call in dict(pairs).items():
            lines += [f"   * - {reference.name(name)}", f"     - {reference.name(call)}"]
        return lines


class FortranCalls(OfHeader):
    """The calls of a header as the Fortran module has them."""

    def lines(self, reference: Reference, header: Header) -> list[str]:
        return [
            line
            for call in reference.calls(header.name)
            for each in (call, *call.twins)
            if not each.large
            for line in self.described(reference, each, header, call.twins)
        ]

    def described(
        self, reference: Reference, call: Call, header: Header, twins: tuple[Call, ...]
    ) -> list[str]:
        made = textwrap.dedent("\n".join(fortran.procedure(call, reference.table, header)))
        code = [line for line in made.splitlines() if not line.startswith("!>")]
        if fortran.is_function(call):
            kept = code[:2]
        else:
            kept = code[: code.index("  integer, optional, intent(out) :: ierror") + 1]
        about = fortran.about(call, reference.table, header)
        if any(each.name == f"{call.name}_c" for each in twins):
            about += " Counts may be of the kind MPI_COUNT_KIND as well."
        body = [reference.text(about), "", ".. code-block:: fortran", "", *indented(kept), ""]
        body.append(f"In C: {reference.name(call.name)}.")
        return [f".. describe:: {call.name}", "", *indented(body), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("header-text", HeaderText)
    app.add_directive("c-macros", Macros)
    app.add_directive("c-calls", Calls)
    app.add_directive("call-table", CallTable)
    app.add_directive("call-names", Names)
    app.add_directive("fortran-calls", FortranCalls)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
