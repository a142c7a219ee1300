# SPDX-License-Identifier: BSD-3-Clause
"""The times of `oriel bench notify`, and what they make of the model and the goals of notified
access."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field

from oriel.bench.distances import Run, Runs
from oriel.bench.ways import HOST, ORIEL

# What the program measures.
PUT = "put"
GET = "get"
OVERLAP = "overlap"
EPOCHS = "epochs"
CALLS = "calls"
MATCHING = "matching"
MISSES = "misses"
# Those of which a share is hidden behind computation.
HIDDEN = (OVERLAP, EPOCHS)

MESSAGES = "messages"
BUSY_WAIT = "busy_wait"
NOTIFIED = {PUT: "put_notify", GET: "get_notify"}
FLUSHED = "put_notify_flush"

SMALL = 8
# put_notify's half round trip of so little data takes at most so much of the lower bound's.
BUSY_WAIT_LIMIT = 1.3
# At no size it takes longer than the messages of the best host.
MESSAGES_LIMIT = 1.0
# From here on a transfer's time is a matter of its bytes.
LONG = 32 << 10

# Kinds of epochs, by name: what is called, blocking and nonblocking.
EPOCH_KINDS = {"lock": "lock, unlock", "fence": "fence", "pscw": "start, complete"}


def nonblocking(epoch: str) -> str:
    """The kind of the nonblocking form."""
    return f"i{epoch}"


# How many requests a measurement of calls has at once.
ONE = 1
MANY = 32


@dataclass(frozen=True, order=True)
class Row:
    """What is compared with one another: all kinds of one measure at one size."""

    measure: str
    size: int  # bytes; of calls and matching, how many requests or notifications


@dataclass(frozen=True)
class OverlapRun(Run):
    """The samples are what starting and completing take beside the computation."""

    latency_us: float


@dataclass
class NotifyTimes(Runs):
    """All runs: by row, kind, host and way."""

    # Of each host and event, by the state of the caches: how many misses each run counted.
    misses: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)
    # Events that cannot be counted here, and why.
    uncounted: dict[str, str] = field(default_factory=dict)

    def read(self, host: str, way: str, output: str) -> int:
        """Takes the JSON lines that one run printed; returns how many there were."""
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for line in lines:
            if line["measure"] == MISSES:
                self._read_misses(host, line)
                continue
            row = Row(line["measure"], line["size"])
            trips = tuple(line["round_trip_ns"])
            if row.measure in HIDDEN:
                run = OverlapRun(line["samples"], trips, line["latency_us"])
            else:
                run = Run(line["samples"], trips)
            self.add(run, row, line["row"], host, way)
            if row.measure == PUT and line["row"] == MESSAGES:
                # Whoever has received knows as much as whoever has got.
                self.add(run, Row(GET, row.size), MESSAGES, host, way)
        return len(lines)

    def _read_misses(self, host: str, line: dict) -> None:
        if "reason" in line:
            self.uncounted[line["event"]] = line["reason"]
            return
        counts = self.misses.setdefault(host, {}).setdefault(line["event"], {})
        counts.setdefault(line["cache"], []).append(line["misses"])

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host for _, _, host, _ in self.runs))

    def sizes(self, measure: str) -> list[int]:
        """Without the empty one, which only notifications have."""
        return sorted({row.size for row, *_ in self.runs if row.measure == measure and row.size})

    def has(self, measure: str, kind: str, host: str, way: str) -> bool:
        return any(
            (row.measure, *column) == (measure, kind, host, way) for row, *column in self.runs
        )

    def overlap(self, measure: str, kind: str, size: int, host: str, way: str) -> float | None:
        """The share of the latency of a transfer or an epoch that computation hides: median of the
        runs."""
        runs = self.compared(Row(measure, size), kind, host, way)
        shares = [1 - statistics.median(run.samples) / run.latency_us for run in runs]
        return statistics.median(shares) if shares else None

    def against_messages(self, measure: str, size: int, host: str) -> float | None:
        """Notified access against the messages of the best host alone."""
        row = Row(measure, size)
        ours = self.median(row, NOTIFIED[measure], host, ORIEL)
        theirs = [self.median(row, MESSAGES, each, HOST) for each in self.hosts()]
        theirs = [each for each in theirs if each]
        return ours / min(theirs) if ours and theirs else None

    def against_busy_wait(self, kind: str, size: int, host: str) -> float | None:
        """A kind of put with Oriel against the lower bound with it on the same host."""
        row = Row(PUT, size)
        ours = self.median(row, kind, host, ORIEL)
        bound = self.median(row, BUSY_WAIT, host, ORIEL)
        return ours / bound if ours and bound else None

    def slowest_against_messages(self, host: str) -> tuple[float, int] | None:
        """The largest ratio of put_notify to the best host's messages, and the size where it is."""
        ratios = [(self.against_messages(PUT, size, host), size) for size in self.sizes(PUT)]
        return max(((ratio, size) for ratio, size in ratios if ratio), default=None)

    def latency_us(self, host: str) -> float | None:
        """L: half a round trip of notifications without data."""
        return self.median(Row(PUT, 0), NOTIFIED[PUT], host, ORIEL)

    def gap_ns(self, host: str) -> float | None:
        """G: nanoseconds for a byte more, over the long sizes."""
        sizes = self.sizes(PUT)
        long = [size for size in sizes if size >= LONG]
        if len(long) < 2:
            long = sizes
        if len(long) < 2:
            return None
        ends = long[0], long[-1]
        first, last = (self.median(Row(PUT, size), NOTIFIED[PUT], host, ORIEL) for size in ends)
        if first is None or last is None:
            return None
        return 1e3 * (last - first) / (ends[1] - ends[0])

    def as_json(self) -> list[dict]:
        return [
            {
                "measure": row.measure,
                "row": kind,
                "size": row.size,
                "host": host,
                "way": way,
                "unit": "us",
                "median": self.median(row, kind, host, way),
                "distance": self.distance(row),
                "runs": [run.samples for run in runs],
                "round_trips_ns": [run.round_trips_ns for run in runs],
                **(
                    {
                        "latencies_us": [run.latency_us for run in runs],
                        "overlap": self.overlap(row.measure, kind, row.size, host, way),
                    }
                    if row.measure in HIDDEN
                    else {}
                ),
            }
            for (row, kind, host, way), runs in self.runs.items()
        ]
