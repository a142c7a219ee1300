# SPDX-License-Identifier: BSD-3-Clause
"""The tables of real programs, in Markdown: one row per program, and all that was run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from oriel.bench.ways import HOST, ORIEL
from program import Program
from turns import Turns, ranks_text

# A ratio that is nearer to 1 is no difference that a few turns can show.
NOTICEABLE = 0.1

WAY_TITLES = {HOST: "alone", ORIEL: "with Oriel"}

Played = Sequence[tuple[Program, Sequence[Turns]]]


def outcome_text(turns: Turns, way: str) -> str:
    """A cell: the median, or what went wrong."""
    text = _outcome(turns.seconds[way], turns.faults.get(way, ""))
    return f"{text} s" if turns.right(way) else text


def _outcome(seconds: Sequence[float], fault: str) -> str:
    """The median in seconds, without the unit, or what went wrong."""
    if not fault:
        return f"{statistics.median(seconds):.1f}"
    if "did not end" in fault:
        return "no end"
    return "aborts" if "ended with status" in fault else "wrong"


def ratio_text(ratios: Sequence[float]) -> str:
    """The median, and the range of all pairs of turns."""
    if not ratios:
        return ""
    middle = statistics.median(ratios)
    if len(ratios) == 1:
        return f"{middle:.2f}"
    return f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def short_table(played: Played) -> list[str]:
    """Of each program: how many of its runs are right, and the ratios where both ways are."""
    lines = [_row(["program", "right alone", "right with Oriel", "time, Oriel to alone"])]
    lines.append("|---|---|---|---|")
    for program, runs in played:
        ratios = sorted(turns.ratio for turns in runs if turns.ratio is not None)
        lines.append(
            _row(
                [
                    program.title,
                    *(
                        f"{sum(turns.right(way) for turns in runs)} of {len(runs)}"
                        for way in (HOST, ORIEL)
                    ),
                    f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else "",
                ]
            )
        )
    return lines


def wide_table(runs: Sequence[dict]) -> list[str]:
    """Of runs as programs.json has them: a row per task, a column per MPI, and in each cell the
    medians alone and with Oriel."""
    mpis = sorted({run["mpi"] for run in runs})
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for run in runs:
        ranks = ranks_text(run["ranks"], run["nodes"])
        cells = rows.setdefault((run["program"], run["task"], ranks), {})
        cells[run["mpi"]] = ", ".join(
            _outcome(run["seconds"][way], run["faults"].get(way, "")) for way in (HOST, ORIEL)
        )
    lines = [_row(["program", "task", "ranks", *mpis]), "|---|---|---|" + "---|" * len(mpis)]
    last = ""
    for (program, task, ranks), cells in rows.items():
        named = program if program != last else ""
        lines.append(_row([named, task, ranks, *(cells.get(mpi, "") for mpi in mpis)]))
        last = program
    return lines


def full_table(played: Played) -> list[str]:
    """A section per program: where it comes from, a row per task and host, and what to type."""
    lines: list[str] = []
    for program, runs in played:
        lines += ["", f"## {program.title}", "", f"{program.source}.", ""]
        lines.append(_row(["task", "ranks", "MPI", *WAY_TITLES.values(), "ratio"]))
        lines.append("|---|---|---|---|---|---|")
        for turns in runs:
            task = turns.task
            own, ours = outcome_text(turns, HOST), outcome_text(turns, ORIEL)
            if turns.right(HOST) and not turns.right(ORIEL):
                ours = f"**{ours}**"
            lines.append(
                _row(
                    [
                        task.title,
                        turns.ranks,
                        turns.case.host.title,
                        own,
                        ours,
                        ratio_text(turns.ratios()),
                    ]
                )
            )
        commands = list(dict.fromkeys(turns.command for turns in runs))
        lines += ["", "```console", *(f"$ {command}" for command in commands), "```"]
        faults = [
            f"- {turns.title}, {WAY_TITLES[way]}: {fault}"
            for turns in runs
            for way, fault in turns.faults.items()
        ]
        lines += ["", *faults] if faults else []
        lines += ["", *(f"- {note}" for note in program.notes)] if program.notes else []
    return lines


def summary(played: Played) -> str:
    runs = [turns for _, each in played for turns in each]
    rescued = sum(turns.right(ORIEL) and not turns.right(HOST) for turns in runs)
    lost = sum(turns.right(HOST) and not turns.right(ORIEL) for turns in runs)
    ratios = [turns.ratio for turns in runs if turns.ratio is not None]
    return (
        f"{len(runs)} runs: {sum(turns.right(HOST) for turns in runs)} right alone, "
        f"{sum(turns.right(ORIEL) for turns in runs)} with Oriel; {rescued} rescued, {lost} lost; "
        f"{sum(ratio < 1 - NOTICEABLE for ratio in ratios)} faster by more than "
        f"{NOTICEABLE:.0%}, {sum(ratio > 1 + NOTICEABLE for ratio in ratios)} slower."
    )
