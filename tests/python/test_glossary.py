# SPDX-License-Identifier: BSD-3-Clause
"""The glossary says where each word is: the file has to be there, and the name in it."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def rows() -> list[list[str]]:
    text = (REPOSITORY / "docs/glossary.md").read_text(encoding="utf-8")
    tables = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in tables]
    return [row for row in cells if len(row) == 4 and row[0] not in ("word", "---")]


def found(place: str) -> Path | None:
    """Below src, where nothing else is said."""
    candidates = (REPOSITORY / "src" / place, REPOSITORY / place)
    return next((path for path in candidates if path.exists()), None)


def test_words_are_where_the_glossary_says():
    faults = []
    for word, _, _, where in rows():
        for place in re.findall(r"`([^`]+)`", where):
            path = found(place)
            if path is None:
                faults.append(f"{word}: there is no {place}")
            elif path.is_file():
                text = path.read_text(encoding="utf-8")
                faults += [
                    f"{word}: {name} is not in {place}"
                    for name in re.findall(r"`([A-Za-z_]+)`", word)
                    if not re.search(rf"\b{name}\b", text)
                ]
    assert len(rows()) > 100
    assert not faults, "\n".join(faults)
