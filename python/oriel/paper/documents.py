# SPDX-License-Identifier: BSD-3-Clause
"""The page and docs/evidence.md, from the same rows."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from oriel.paper.campaign import Outcome
from oriel.paper.comparisons import Shown
from oriel.paper.entries import Paper

_FOLDER = Path(__file__).parent
_MARKDOWN_WIDTH = 118
Papers = Sequence[tuple[Paper, Sequence[Shown]]]


def _environment(html: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=html,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["wrapped"] = _wrapped
    environment.filters["marked"] = _marked
    environment.filters["percent"] = _percent
    return environment


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text,
        _MARKDOWN_WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _marked(text: str) -> Markup:
    """HTML of a note, in which only code is marked."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _machines(outcomes: Mapping[str, Outcome]) -> list[tuple[dict, list[str]]]:
    """What the runs were measured on, and the versions: once for all runs of which it holds."""
    found: list[tuple[dict, list[str]]] = []
    for outcome in outcomes.values():
        if not outcome.results:
            continue
        machine = {name: outcome.machine[name] for name in ("processor", "cores", "kernel")} | {
            "MPIs": ", ".join(outcome.versions.values())
        }
        for known, names in found:
            if known == machine:
                names.append(outcome.run.name)
                break
        else:
            found.append((machine, [outcome.run.name]))
    return found


def _facts(papers: Papers, outcomes: Mapping[str, Outcome], hosts: Mapping[str, str]) -> dict:
    return {
        "papers": papers,
        "outcomes": outcomes,
        "hosts": hosts,
        "machines": _machines(outcomes),
        "quick": any("--quick" in each.command for each in outcomes.values()),
    }


def page(papers: Papers, outcomes: Mapping[str, Outcome], hosts: Mapping[str, str]) -> str:
    template = _environment(html=True).get_template("page.html.jinja")
    return template.render(_facts(papers, outcomes, hosts))


def evidence(papers: Papers, outcomes: Mapping[str, Outcome], hosts: Mapping[str, str]) -> str:
    template = _environment(html=False).get_template("evidence.md.jinja")
    return template.render(_facts(papers, outcomes, hosts))
