# SPDX-License-Identifier: BSD-3-Clause
"""Findings as text: a table, and below it what will be slow or will not work. Plain text: the
command needs no package besides Python's own."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence

from oriel.doctor.finding import ONE_NODE, TWO_NODES, Finding, State

_LEAST_COLUMNS = 60
_HEADINGS = {
    State.FAILS: "Will not work",
    State.LIMITED: "Will be slow, or is limited",
}


def _rows(findings: Sequence[Finding], columns: int) -> list[str]:
    states = max(len(state.value) for state in State)
    subjects = max(len(finding.subject) for finding in findings)
    rest = max(_LEAST_COLUMNS, columns) - states - subjects - len("      ")
    lines = []
    for about, group in itertools.groupby(findings, key=lambda finding: finding.about):
        lines += ["", about[0].upper() + about[1:]]
        for finding in group:
            parts = textwrap.wrap(finding.found, rest, break_on_hyphens=False) or [""]
            first = f"  {finding.state.value:<{states}}  {finding.subject:<{subjects}}"
            lines += [f"{first}  {parts[0]}".rstrip()]
            lines += [f"{'':<{len(first)}}  {part}" for part in parts[1:]]
    return lines


def _sentences(findings: Sequence[Finding], columns: int) -> list[str]:
    lines = []
    for state, heading in _HEADINGS.items():
        chosen = [finding for finding in findings if finding.state is state]
        # What is true of several MPIs for one reason is said once.
        together: dict[tuple[str, str, str], list[str]] = {}
        for finding in chosen:
            key = (finding.subject, finding.sentence, finding.advice)
            together.setdefault(key, []).append(finding.about)
        if together:
            lines += ["", heading]
        for (subject, sentence, advice), about in together.items():
            head = f"{subject}, {', '.join(about)}: {sentence}"
            for text, first in ((head, "  - "), (f"Change: {advice}", "    ")):
                width = max(_LEAST_COLUMNS, columns)
                lines += textwrap.wrap(
                    text,
                    width,
                    initial_indent=first,
                    subsequent_indent="    ",
                    break_on_hyphens=False,
                    break_long_words=False,
                )
    return lines


def text(findings: Sequence[Finding], columns: int) -> str:
    lines = _rows(findings, columns) + _sentences(findings, columns)
    not_run = [finding for finding in findings if finding.state is State.UNKNOWN]
    wrong = any(finding.state in _HEADINGS for finding in findings)
    verdict = []
    if not wrong:
        verdict.append("Nothing is wrong in what was tested." if not_run else "Everything works.")
    if not_run:
        tests = [finding for finding in findings if finding.subject in (ONE_NODE, TWO_NODES)]
        verdict.append(f"{len(not_run)} of {len(tests)} tests were not run; the table says why.")
    lines += ["", " ".join(verdict)] if verdict else []
    return "\n".join(lines[1:])
