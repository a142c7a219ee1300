# SPDX-License-Identifier: BSD-3-Clause
"""The documented declarations of a header of the C++ interface: each public one that has a comment.
Doxygen and Breathe would be a second build, for ten headers of inline functions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from directives.call_reference import indented, read_reference

INCLUDE = Path(__file__).resolve().parents[2] / "include"
COMMENT = r"^ *(/\*\*.*?\*/)\n(.*?)(?=^ *(?:/\*\*|// )|\Z)"


def public_part(source: str) -> str:
    """Without private members, and of namespace detail with its classes alone."""
    without = re.sub(r"^ (?:private|protected):\n.*?(?=^\};)", "", source, flags=re.S | re.M)
    parts = re.split(r"^namespace detail \{|^\}  // namespace detail", without, flags=re.M)
    of_detail = r"^/\*\*(?:(?!\*/).)*\*/\n(?:template[^\n]*\n)?class.*?^\};"
    for at in range(1, len(parts), 2):
        parts[at] = "\n".join(re.findall(of_detail, parts[at], re.S | re.M))
    return "\n".join(parts)


def declarations(source: str) -> Iterator[tuple[str, str]]:
    """The comments of a header, each with the declaration behind it; that of @file with none."""
    for match in re.finditer(COMMENT, public_part(source), re.S | re.M):
        comment = re.sub(r"^ *\* ?", "", match[1][3:-2], flags=re.M).strip()
        if "@file" in comment:
            yield comment.partition("\n")[2], ""
        else:
            yield comment, textwrap.dedent(head(match[2]))


def head(code: str) -> str:
    """A declaration without its body and its initializers; a concept is its body."""
    if re.search(r"^concept ", code, re.M):
        return code.rstrip()
    depth = 0
    for at, letter in enumerate(code):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        begins_initializers = re.match(r"\)\s*(?:noexcept\s*)?:\s", code[at:]) is not None
        if depth == 0 and (letter in "{;" or begins_initializers):
            return code[: at + begins_initializers].rstrip()
    return code.rstrip()


class CppHeader(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = INCLUDE / self.arguments[0]
        reference = read_reference()
        lines: list[str] = []
        spaces = 0
        for comment, declaration in declarations(path.read_text(encoding="utf-8")):
            body = reference.paragraphs(comment)
            kind = re.search(r"^(?:class|struct) (\w+(?:<[^>]*>)?)", declaration, re.M)
            if declaration:
                code = [".. code-block:: cpp", "", *indented(declaration.splitlines()), ""]
                body = [*code, *body]
            if kind:
                lines += [f".. describe:: {kind[1]}", "", *indented(body), ""]
                spaces = 3
            else:
                spaces = spaces if declaration else 0
                lines += [*indented(body, spaces), ""]
        self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("cpp-header", CppHeader)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
