# SPDX-License-Identifier: BSD-3-Clause
"""The index page of the main job: tables, notes and all figures."""

from __future__ import annotations

from html import escape
from pathlib import Path

from oriel.demo import tables
from oriel.demo.patterns import FLAGS, INEFFICIENCIES, Pattern
from oriel.demo.results import Results

STYLE = """
:root { --ink: #22303c; --muted: #6b7885; --line: #e3e8ec; --accent: #14648c; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem; color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; } h2 { margin: 2.6rem 0 .6rem; }
.lead { color: var(--muted); margin: 0 0 1rem; max-width: 52rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums;
  width: 100%; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .4rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th { color: var(--muted); font-weight: 600; vertical-align: bottom; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr));
  gap: 1.6rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
figure img { width: 100%; height: auto; }
figcaption { font-size: .9rem; } figcaption p { margin: .4rem 0; }
a { color: var(--accent); } dl { display: grid; grid-template-columns: max-content 1fr;
  gap: .1rem 1rem; font-size: .9rem; } dt { color: var(--muted); } dd { margin: 0; }
"""


def _table(table: tables.Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figures(patterns: tuple[Pattern, ...], pictures: dict[str, str]) -> str:
    parts = []
    for pattern in patterns:
        picture = pictures.get(pattern.name)
        if not picture:
            continue
        svg = picture.removesuffix(".png") + ".svg"
        parts.append(
            f'<figure><img src="{escape(svg)}" alt="{escape(pattern.title)}">'
            f"<figcaption><p>{escape(pattern.setting)}</p><p>{escape(pattern.outcome)}</p>"
            f'<p><a href="{escape(picture)}">PNG</a> · <a href="{escape(svg)}">SVG</a></p>'
            "</figcaption></figure>"
        )
    return f'<div class="figures">{"".join(parts)}</div>'


def _section(results: Results, pictures: list[Path], folder: Path) -> str:
    by_name = {
        pattern.name: str(path.relative_to(folder))
        for pattern in (*INEFFICIENCIES, *FLAGS)
        for path in pictures
        if path.name.startswith(f"figure-{pattern.figure:02}-")
    }
    notes = "".join(f"<li>{escape(note)}</li>" for note in tables.notes(results))
    parts = [f"<h2>{escape(results.version)}</h2>"]
    shown = {key[0] for key in results.samples}
    for patterns, table in ((INEFFICIENCIES, tables.inefficiencies), (FLAGS, tables.flags)):
        if any(pattern.name in shown for pattern in patterns):
            parts += [_table(table(results)), "<br>", _figures(patterns, by_name)]
    if notes:
        parts.append(f"<h3>Notes</h3><ul>{notes}</ul>")
    return "".join(parts)


def write(
    path: Path, machine: dict, iterations: int, sections: list[tuple[Results, list[Path]]]
) -> None:
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>"
        for name, value in {**machine, "iterations": iterations}.items()
        if value is not None
    )
    body = "".join(_section(results, pictures, path.parent) for results, pictures in sections)
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Oriel: nonblocking epochs</title><style>{STYLE}</style></head><body>"
        "<h1>Nobody waits for anything but its own data</h1>"
        '<p class="lead">Five patterns in which MPI one-sided communication makes a rank wait for '
        "another's delay, and four flags that let epochs overtake each other: the microbenchmarks "
        "of “Nonblocking epochs in MPI one-sided communication”. Each pattern runs with the host "
        "MPI's own one-sided communication, with Oriel's blocking calls and with its nonblocking "
        "calls. A dashed line in a bar is the same without the delay; a thin line spans the middle "
        f"half of the measurements.</p>{body}<h2>Where and when</h2><dl>{facts}</dl>"
        '<p><a href="results.json">All measurements as JSON</a></p></body></html>\n',
        encoding="utf-8",
    )
