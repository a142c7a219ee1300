# SPDX-License-Identifier: BSD-3-Clause
"""What the library has counted in a run of `oriel run --info`.

Each process that had windows leaves a file of lines `group, name, times, amount` in the folder of
the run (src/engine/record/records.cpp). Operations on the hot paths are not counted: they
cost a few nanoseconds, and counting would cost as much.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO


@dataclass
class Count:
    """`amount`: bytes of operations, nanoseconds of waits."""

    times: int = 0
    amount: int = 0


class RunStatistics:
    """The sums over all processes that have left their counts in the folder."""

    def __init__(self, folder: Path) -> None:
        self.groups: dict[str, dict[str, Count]] = defaultdict(lambda: defaultdict(Count))
        for file in sorted(folder.glob("statistics.*")):
            try:
                lines = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
                counts = [(group, name, int(t), int(a)) for group, name, t, a in lines]
            except (OSError, ValueError):  # of a full disk, or another user's
                continue
            for group, name, times, amount in counts:
                count = self.groups[group][name]
                count.times += times
                count.amount += amount

    def print(self, stream: TextIO) -> None:
        """Plain text: `oriel run` needs no package besides Python's own."""
        processes = self.groups["processes"]["with windows"].times
        if processes == 0:
            return
        print(
            f"oriel: counts of {processes} processes together; "
            "operations on the hot paths are not counted",
            file=stream,
        )
        for title, rows in (
            ("operations by protocol", self._operations()),
            ("epochs", self._epochs()),
            ("waits", self._waits()),
            ("decisions", self._times("decisions")),
            ("rules of MPI that the program has not kept", self._times("rules")),
        ):
            if not rows:
                continue
            print(title, file=stream)
            lines = [list(rows[0]), *(list(row.values()) for row in rows)]
            widths = [max(map(len, column)) for column in zip(*lines)]
            for first, *others in lines:
                cells = [cell.rjust(width) for cell, width in zip(others, widths[1:])]
                print("  " + "    ".join([first.ljust(widths[0]), *cells]), file=stream)

    def _operations(self) -> list[dict[str, str]]:
        return [
            {"": name, "times": f"{count.times:,}", "bytes": f"{count.amount:,}"}
            for name, count in self.groups["operations"].items()
        ]

    def _epochs(self) -> list[dict[str, str]]:
        deferred = self.groups["deferred"]
        return [
            {"": name, "times": f"{count.times:,}", "deferred": f"{deferred[name].times:,}"}
            for name, count in self.groups["epochs"].items()
        ]

    def _waits(self) -> list[dict[str, str]]:
        return [
            {
                "for": name,
                "times": f"{count.times:,}",
                "seconds": f"{count.amount / 1e9:.3f}",
                "mean, us": f"{count.amount / count.times / 1e3:.1f}",
            }
            for name, count in self.groups["waits"].items()
        ]

    def _times(self, group: str) -> list[dict[str, str]]:
        return [
            {"": name, "times": f"{count.times:,}"} for name, count in self.groups[group].items()
        ]
