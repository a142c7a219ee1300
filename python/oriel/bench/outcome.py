# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark says and writes behind its tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from oriel.hosts.nodes import CONGESTION_CONTROL


def place(where: dict, versions: dict[str, str], nodes: int = 1) -> str:
    """The machine and the MPIs, for the end of a table and the foot of a figure."""
    tcp = f"TCP with {CONGESTION_CONTROL}"
    spread = f"{nodes} nodes made of network namespaces ({tcp}); " if nodes > 1 else ""
    return spread + (
        f"{where['processor']}, {where['cores']} cores, kernel {where['kernel']}, "
        f"load {where['load']} at the start; {', '.join(versions.values())}"
    )


def crowded(ranks: int, where: dict) -> list[str]:
    """A note where the ranks share cores."""
    if ranks <= where["cores"]:
        return []
    return [f"The {ranks} ranks share {where['cores']} cores: the times include waits for a core."]


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
