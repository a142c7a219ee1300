# SPDX-License-Identifier: BSD-3-Clause
"""Writes records as src/engine/record/recorder.cpp does, of runs that have not been."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from oriel.wait_states.event_table import VERSION
from oriel.wait_states.record import _DETAILS, _ENTRY, _HEAD, _HEAD_BYTES, KINDS

# The clock of a machine that has run for some hours.
BEGUN = 30_000_000_000_000


@dataclass
class RecordWriter:
    """One record: of a rank, or with rank -1 of a process without MPI_COMM_WORLD. Times are
    nanoseconds after the begin; `engine`: which of the process, from 1."""

    rank: int
    ranks: int
    pid: int = 4711
    engine: int = 1
    boot: bytes = b"boot"
    begun: int = BEGUN
    in_host: int = 0
    entries: list[bytes] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    last: int = 0

    def window(self, number: int, name: str, ranks: str, rank: int, first: int = 1) -> None:
        """`first`: its number at its first rank."""
        self.lines.append(f"window\t{number}\t{rank}\t{first}\t{ranks}\t{name}")

    def site(self, number: int, call: str, function: str, file: str = "/nowhere/program") -> None:
        self.lines.append(f"site\t{number}\t{call}\t{number:x}0\t{function}\t{file}")

    def add(self, time, kind, detail, *, number=0, window=1, rank=-1, id=0, flags=0) -> None:
        detail = _DETAILS[KINDS.index(kind)].index(detail)
        self.last = time
        self.entries.append(
            _ENTRY.pack(
                self.begun + time, number, window, rank, id, KINDS.index(kind), detail, flags
            )
        )

    def epoch(
        self,
        steps: dict[str, int],
        detail: str,
        number: int,
        *,
        access=0,
        window=1,
        rank=-1,
        flags=0,
    ) -> None:
        """`access`: its number at origin and target."""
        for kind, time in steps.items():
            id = access if kind in ("granted", "told") else 0
            self.add(
                time, kind, detail, number=number, window=window, rank=rank, id=id, flags=flags
            )

    def write(self, folder: Path, ended: bool = True) -> None:
        end = self.begun + self.last + 1_000 if ended else 0
        head = _HEAD.pack(
            b"orielrec", VERSION, _ENTRY.size, self.rank, self.ranks, self.pid, 0, self.begun, end,
            0, self.in_host, self.boot, b"node",
        )  # fmt: skip
        text = head.ljust(_HEAD_BYTES, b"\0") + b"".join(self.entries) + bytes(_ENTRY.size)
        stem = f"rank-{self.rank}" if self.rank >= 0 else f"process-{self.pid}"
        stem += f"-{self.engine}" if self.engine > 1 else ""
        (folder / f"{stem}.record").write_bytes(text)
        (folder / f"{stem}.names").write_text("\n".join([*self.lines, ""]), "utf-8")


TURN = 100_000
LATE = 60_000
EVENTS_OF_A_TURN = 13


def write_late_posts(folder: Path, pairs: int, turns: int, window: str = "halo") -> None:
    """Rank 2n waits in MPI_Win_complete for the post of rank 2n + 1, LATE nanoseconds in each
    TURN; then 10,000 for the transfer."""
    for pair in range(pairs):
        origin, target = (RecordWriter(2 * pair + i, 2 * pairs) for i in range(2))
        for rank, each in enumerate((origin, target)):
            each.window(1, window, f"{2 * pair}-{2 * pair + 1}", rank)
        origin.site(1, "MPI_Win_complete", "exchange")
        for turn in range(turns):
            begun, number = TURN * turn + 1_000 * pair, 2 * turn + 1
            origin.epoch(
                {"opened": begun, "activated": begun + 100, "closed": begun + 2_000},
                "access", number, rank=1,
            )  # fmt: skip
            origin.add(begun + 2_100, "wait_begun", "complete", number=turn + 1, id=1)
            posted = begun + 2_100 + LATE
            over = posted + 10_000
            origin.epoch(
                {"granted": posted, "told": over - 200, "completed": over - 100},
                "access", number, rank=1, access=turn + 1,
            )  # fmt: skip
            origin.add(over, "wait_ended", "complete", number=turn + 1)
            target.epoch(
                {
                    "opened": posted - 300,
                    "activated": posted - 200,
                    "closed": posted + 5_000,
                    "told": over + 500,
                    "completed": over + 600,
                },
                "exposure", number, rank=0, access=turn + 1,
            )  # fmt: skip
        origin.write(folder)
        target.write(folder)
