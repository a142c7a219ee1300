# SPDX-License-Identifier: BSD-3-Clause
"""The table of events, as a trace shows them."""

from __future__ import annotations

import re

from docutils import nodes
from oriel.wait_states.event_table import EVENTS, Group
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from directives.call_reference import indented


class Events(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        lines = [
            ".. list-table::",
            *indented([":header-rows: 1", "", "* - event", "  - fields", "  - reported when"]),
        ]
        for event in EVENTS:
            if event.group is Group.END:
                continue
            fields = ", ".join(f"``{field}``" for field in event.fields)
            when = re.sub(r"`([^`]+)`", r"``\1``", event.when)
            when += " (for a timeline)" * event.group.of_timeline
            lines += indented([f"* - ``{event.name}``", f"  - {fields}", f"  - {when}"])
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("events", Events)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
