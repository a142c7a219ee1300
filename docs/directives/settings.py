# SPDX-License-Identifier: BSD-3-Clause
"""The library's table of settings, as `oriel info` has it."""

from __future__ import annotations

from docutils import nodes
from oriel.cli.info import library_settings
from oriel.hosts.host import HostError
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from directives.call_reference import indented, read_reference


class Settings(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        try:
            settings = library_settings()
        except HostError as error:
            raise ExtensionError(str(error)) from error
        lines: list[str] = []
        for each in settings:
            default = f":code:`{each['default']}`" if each["default"] else "empty"
            body = [f"*{each['kind']}*, default {default}", ""]
            body += [read_reference().text(each["help"])]
            lines += [f".. envvar:: {each['name']}", "", *indented(body), ""]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("settings", Settings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
