# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench report`: of calls on a host alone, with Oriel, and with what records
or counts its events."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Optional

from oriel.bench.distances import Run, Runs
from oriel.bench.micro.micro_times import title_of
from oriel.bench.ways import HOST, ORIEL

REPORT = "report"
TIMELINE = "timeline"
COUNTER = "counter"
TITLES = {
    HOST: "the host alone",
    ORIEL: "Oriel",
    REPORT: "with --report",
    TIMELINE: "with --timeline",
    COUNTER: "with a counter of MPI_T",
}
RECORDING = (REPORT, TIMELINE, COUNTER)

PUT_FLUSH = "put_flush"
# Of the program micro, in the order of the table.
CALLS = (
    PUT_FLUSH,
    "get_flush",
    "fetch_and_op_flush",
    "put_lock",
    "put_lock_all",
    "put_post_start",
    "put_fence",
)
# Of the program notify: half round trips. A host alone has only the messages.
MESSAGES = "messages"
NOTIFIED = "put_notify"
ROUND_TRIPS = (NOTIFIED, MESSAGES)
ROUND_TRIP_TITLES = {NOTIFIED: "put_notify, half a round trip", MESSAGES: "messages, the same"}
BYTES = 8

# Takes times, row, host and way; microseconds.
Statistic = Callable[["RecordingTimes", str, str, str], Optional[float]]
STATISTICS: dict[str, Statistic] = {"median": Runs.median, "fastest batch": Runs.fastest}


def row_title(row: str) -> str:
    return ROUND_TRIP_TITLES.get(row) or title_of(row)


class RecordingTimes(Runs):
    """All runs: by row, host and way."""

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            # The program notify measures empty notifications, too.
            if line.get("size") != 0:
                run = Run(line["samples"], tuple(line["round_trip_ns"]))
                self.add(run, line["row"], host, way)
        return len(lines)

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, host, _ in self.runs))

    def rows(self) -> list[str]:
        return [row for row in (*CALLS, *ROUND_TRIPS) if any(row == each for each, *_ in self.runs)]

    def ratio(self, row: str, host: str, way: str, value: Statistic = Runs.median) -> float | None:
        """Oriel's time to that of the host alone; that of a way that records to Oriel's."""
        time = value(self, row, host, way)
        other = value(self, row, host, HOST if way == ORIEL else ORIEL)
        return time / other if time and other else None

    def added_ns(
        self, row: str, host: str, way: str, value: Statistic = Runs.median
    ) -> float | None:
        """What a way that records adds to Oriel's time."""
        time = value(self, row, host, way)
        ours = value(self, row, host, ORIEL)
        return 1e3 * (time - ours) if time and ours else None

    def as_json(self) -> list[dict]:
        return [
            {
                "row": row,
                "bytes": BYTES,
                "host": host,
                "way": way,
                **self.as_times(row, host, way),
                **({} if way == HOST else {"ratio": self.ratio(row, host, way)}),
                **({"added_ns": self.added_ns(row, host, way)} if way in RECORDING else {}),
            }
            for row, host, way in self.runs
        ]
