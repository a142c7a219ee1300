# SPDX-License-Identifier: BSD-3-Clause
"""What became of the programs of the conformance matrix: matrix.json, and a table of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from case import Case
from oriel.report.machine import description


class Results:
    """The verdicts of all programs: this run's, and those of the last run for suites that this run
    leaves out."""

    def __init__(self, folder: Path, suites: list[str]):
        self._folder = folder
        self._suites = suites
        self._file = folder / "matrix.json"
        kept = json.loads(self._file.read_text()) if self._file.exists() else []
        self._rows = [row for row in kept if row["suite"] in suites]

    def forget(self, suite: str) -> None:
        self._rows = [row for row in self._rows if row["suite"] != suite]

    def add(self, case: Case, own: str, ours: str) -> None:
        self._rows.append(
            {
                "suite": case.suite,
                "program": case.name,
                "mpi": case.host.title,
                "ranks": case.ranks,
                "host": own,
                "oriel": ours,
            }
        )

    def worse(self) -> list[dict]:
        return [row for row in self._rows if row["oriel"] and not row["host"]]

    def summary(self) -> str:
        return (
            f"{len(self._rows)} programs: {sum(not row['host'] for row in self._rows)} pass on the "
            f"MPIs alone, {sum(not row['oriel'] for row in self._rows)} with Oriel."
        )

    @property
    def page(self) -> Path:
        return self._folder / "matrix.md"

    def write(self) -> None:
        """matrix.json, and the table."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._rows.sort(key=lambda row: self._suites.index(row["suite"]))
        self._file.write_text(json.dumps(self._rows, indent=1), encoding="utf-8")
        machine = ", ".join(f"{key} {value}" for key, value in description().items())
        text = f"{machine}\n{self.summary()}\n{table(self._rows)}"
        self.page.write_text(text, encoding="utf-8")


def short(reason: str) -> str:
    """A cell's text. Checks that fail end a program with status 1, and without one it did not print
    what it should; another status is that of a signal or of an error of the MPI."""
    if not reason:
        return "ok"
    if "did not end" in reason:
        return "no end"
    status = re.match(r"it ended with status (\d+)", reason)
    return "crash" if status and status.group(1) != "1" else "fails"


def table(rows: list[dict]) -> str:
    """Suites in Markdown: a row per program, two columns per MPI."""
    lines: list[str] = []
    for suite in dict.fromkeys(row["suite"] for row in rows):
        part = [row for row in rows if row["suite"] == suite]
        titles = list(dict.fromkeys(row["mpi"] for row in part))
        lines += [
            f"\n## {suite}\n",
            "| | " + " | ".join(f"{t} | with Oriel" for t in titles) + " |",
        ]
        lines += ["|---" * (1 + 2 * len(titles)) + "|"]
        found = {(row["program"], row["mpi"]): row for row in part}
        same = []
        for name in dict.fromkeys(row["program"] for row in part):
            cells = []
            for title in titles:
                row = found.get((name, title))
                own, ours = (short(row["host"]), short(row["oriel"])) if row else ("", "")
                cells += [own, f"**{ours}**" if own == "ok" != ours else ours]
            if set(cells) <= {"ok", ""}:
                same.append(name)
            else:
                lines.append(f"| {name} | " + " | ".join(cells) + " |")
        passed = []
        for title in titles:
            of = [row for row in part if row["mpi"] == title]
            passed += [
                f"{sum(not row[way] for row in of)} of {len(of)}" for way in ("host", "oriel")
            ]
        lines.append("| passed | " + " | ".join(passed) + " |")
        if same:
            lines += ["", f"All pass everywhere: {', '.join(same)}."]
    return "\n".join(lines) + "\n"
