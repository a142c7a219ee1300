# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark says and writes behind its tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console


def report(
    console: Console,
    notes: Sequence[str],
    failures: Sequence[str],
    where: str,
    results: dict,
    path: Path,
    draw: Callable[[str, Path], None],
    figures: Sequence[str] = (),
) -> int:
    """What comes after the tables: notes, failures and the machine; then, if no run failed, the
    results as JSON and the figure `path`, which `draw` makes, or those of other names beside it.
    Returns the exit status."""
    for sentence in [*notes, *failures]:
        console.print(f"- {sentence}", highlight=False, markup=False)
    console.print(where, highlight=False)
    if failures:
        console.print("Nothing was written, because a run failed.", highlight=False)
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    draw(where, path)
    if figures:
        drawn = ", ".join(figures)
        console.print(f"Results: {path.with_suffix('.json')}; figures: {drawn}", highlight=False)
    else:
        console.print(f"Figure and results: {path}", highlight=False)
    return 0
