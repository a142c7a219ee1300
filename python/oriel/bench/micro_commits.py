# SPDX-License-Identifier: BSD-3-Clause
"""Two commits compared by results of `oriel bench micro` that were measured in turn; `make
bench-compare` calls this with the commit and the two folders, theirs and ours."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

from rich.table import Table

from oriel.bench.distances import Run
from oriel.bench.micro_times import Row, Timings
from oriel.bench.ways import HOST, ORIEL
from oriel.report.console import tables_console

THEIRS = "theirs"
OURS = "ours"
# A verdict takes so many runs of each commit. Five are all above, or all below, another five by
# chance once in 126 rows.
FEWEST = 5


def read(folders: dict[str, Path]) -> Timings:
    """The runs by row, host, way and commit: a column for each way and commit."""
    timings = Timings()
    for commit, folder in folders.items():
        for path in sorted(folder.glob("*/micro.json")):
            for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
                key = Row(row["set"], row["row"], row["window"], row["bytes"])
                for samples, trips in zip(row["runs"], row["round_trips_ns"]):
                    timings.add(Run(samples, tuple(trips)), key, row["host"], row["way"], commit)
    return timings


def apart(theirs: list[float], ours: list[float]) -> bool:
    """Whether all of one commit's runs are above all of the other's."""
    if min(len(theirs), len(ours)) < FEWEST:
        return False
    return max(theirs) < min(ours) or max(ours) < min(theirs)


def compare(timings: Timings, host: str, title: str) -> tuple[Table, list[str]]:
    """Ratios of medians for each row, and sentences about them."""
    table = Table(title=title, title_justify="left")
    table.add_column("Row")
    for column in ("theirs µs", "ours µs", "ours / theirs", "host alone", ""):
        table.add_column(column, justify="right")
    words = {"slower": 0, "faster": 0}
    ratios = {HOST: [], ORIEL: []}
    for row in dict.fromkeys(row for row, *_ in timings.runs):
        values = {}
        for way in (HOST, ORIEL):
            medians = [timings.median(row, host, way, commit) for commit in (THEIRS, OURS)]
            if all(medians):
                values[way] = medians
                ratios[way].append(medians[1] / medians[0])
        if ORIEL not in values:
            continue
        theirs, ours = (
            [statistics.median(run.samples) for run in timings.compared(row, host, ORIEL, commit)]
            for commit in (THEIRS, OURS)
        )
        before, after = values[ORIEL]
        word = ("slower" if after > before else "faster") if apart(theirs, ours) else ""
        if word:
            words[word] += 1
        noise = f"{values[HOST][1] / values[HOST][0]:.2f}" if HOST in values else "–"
        kind = f"{row.title}, {row.window}" if row.has_window else row.title
        table.add_row(kind, f"{before:.3f}", f"{after:.3f}", f"{after / before:.2f}", noise, word)
    sentences = [
        f"Geometric mean of the ratios: {_mean(ratios[ORIEL])}; of the host alone, which both "
        f"commits measure and which shows the noise of the machine: {_mean(ratios[HOST])}.",
        f"{words['slower']} rows slower and {words['faster']} faster: all runs of one commit above "
        "all of the other's.",
    ]
    return table, sentences


def _mean(ratios: list[float]) -> str:
    return f"{statistics.geometric_mean(ratios):.3f}" if ratios else "–"


def main(commit: str, theirs: str, ours: str) -> int:
    timings = read({THEIRS: Path(theirs), OURS: Path(ours)})
    console = tables_console()
    for host in dict.fromkeys(host for _, host, *_ in timings.runs):
        table, sentences = compare(
            timings, host, f"{host}: this tree (ours) against {commit} (theirs)"
        )
        console.print(table)
        for sentence in sentences:
            console.print(f"- {sentence}", highlight=False)
    if not timings.runs:
        print("bench-compare: no run left results.", file=sys.stderr)
    return 0 if timings.runs else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
