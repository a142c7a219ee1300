# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench micro`: per row, host and way, and how ours compare with the hosts'."""

from __future__ import annotations

import json
from dataclasses import dataclass

from oriel.bench.distances import Run, Runs
from oriel.bench.ways import HOST, ORIEL
from oriel.report.units import size_text

# Short rows on memory that peers map must take at most half of the best host's time, no row more
# than that time.
SMALL = 8
SMALL_LIMIT = 0.5
LIMIT = 1.0

# Sets of rows that the program plays, in the order of the tables. MESSAGES are in a program without
# windows.
USUAL = "usual"
EVERY_OPERATION = "operations"
CONTENDED = "contended"
MESSAGES = "messages"
SETS = (USUAL, EVERY_OPERATION, "sizes", "vectors", "dynamic", CONTENDED, MESSAGES)
WINDOWS = ("allocated", "created", "dynamic", "none")
MAPPED = ("allocated", "created")  # where short rows have the lower limit
OPERATIONS = {
    "put": "put",
    "get": "get",
    "accumulate_int64": "accumulate int64",
    "accumulate_double": "accumulate double",
    "put_vector": "put of a vector",
    "get_vector": "get of a vector",
    "accumulate_double_vector": "accumulate double of a vector",
    "get_accumulate": "get_accumulate int64",
    "fetch_and_op": "fetch_and_op int64",
    "compare_and_swap": "compare_and_swap int64",
}
# A row's name is that of an operation and one of these.
SYNCHRONIZATIONS = {
    "flush": "{}, flush",
    "flush_local": "{}, flush_local",
    "flush_16": "{}, 16 of them, flush",
    "lock": "lock exclusive, {}, unlock",
    "lock_shared": "lock shared, {}, unlock",
    "lock_all": "lock_all, {}, unlock_all",
    "post_start": "post, start, {}, complete, wait",
    "fence": "{}, fence",
}


def title_of(name: str) -> str:
    for synchronization, text in SYNCHRONIZATIONS.items():
        operation = OPERATIONS.get(name.removesuffix(f"_{synchronization}"))
        if operation:
            return text.format(operation)
    return {"send_recv": "send, recv (half round trip)"}.get(name, name)


@dataclass(frozen=True, order=True)
class Row:
    set: str  # of SETS
    name: str
    window: str  # of WINDOWS
    size: int

    @property
    def title(self) -> str:
        return f"{title_of(self.name)}, {size_text(self.size)}"

    @property
    def has_window(self) -> bool:
        return self.window != "none"


@dataclass
class Timings(Runs):
    """All runs, of each row on each host one way."""

    between_nodes: bool = False

    def limit(self, row: Row) -> float:
        """The largest ratio to the best host's time that is as promised."""
        short = row.window in MAPPED and row.size == SMALL and not self.between_nodes
        return SMALL_LIMIT if short and row.set != CONTENDED else LIMIT

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many rows there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            row = Row(line["set"], line["row"], line["window"], line["bytes"])
            trips = tuple(line.get("round_trip_ns", (0.0, 0.0)))
            self.add(Run(line["samples"], trips), row, host, way)
        return len(lines)

    def rows(self) -> list[Row]:
        """In the order in which the program plays them, by set and kind of window."""
        found = list(dict.fromkeys(row for row, _, _ in self.runs))

        def place(row: Row) -> tuple[int, int, int]:
            return SETS.index(row.set), WINDOWS.index(row.window), row.size

        return sorted(found, key=place)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, host, _ in self.runs))

    def ratio(self, row: Row, host: str, value=Runs.median) -> float | None:
        """Ours on this host against the best of the hosts; for a row without windows, where there
        is nothing of ours to be faster, against the same host."""
        ours = value(self, row, host, ORIEL)
        others = self.hosts() if row.has_window else [host]
        theirs = [value(self, row, each, HOST) for each in others]
        theirs = [each for each in theirs if each]
        return ours / min(theirs) if ours and theirs else None

    def misses(self, rows: list[Row], value=Runs.median) -> list[tuple[Row, str, float]]:
        """(row, host, ratio) of every row with a window that takes longer than promised."""
        found = []
        for row in rows:
            for host in self.hosts():
                ratio = self.ratio(row, host, value)
                if row.has_window and ratio is not None and ratio > self.limit(row):
                    found.append((row, host, ratio))
        return found

    def as_json(self) -> list[dict]:
        return [
            {
                "set": row.set,
                "row": row.name,
                "window": row.window,
                "bytes": row.size,
                "host": host,
                "way": way,
                **self.as_times(row, host, way),
                **(
                    {
                        "ratio": self.ratio(row, host),
                        "ratio_fastest": self.ratio(row, host, Timings.fastest),
                    }
                    if way == ORIEL
                    else {}
                ),
            }
            for row, host, way in self.runs
        ]


STATISTICS = {"median": Timings.median, "fastest": Timings.fastest}
