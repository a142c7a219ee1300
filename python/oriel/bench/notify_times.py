# SPDX-License-Identifier: BSD-3-Clause
"""The times and tables of `oriel bench notify`, and what they make of the model and the goals of
notified access."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from oriel.bench.distances import Run, Runs
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.report.units import size_text

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


KINDS = {
    PUT: {
        MESSAGES: "send, recv",
        "flag": "put, flush, flag",
        "fence": "put, fence",
        "pscw": "start, put, complete",
        "counter": "put, counter (own: Intel's)",
        BUSY_WAIT: "busy wait (lower bound)",
        "put_notify": "put_notify",
        FLUSHED: "put_notify, flush",
    },
    GET: {
        MESSAGES: "send, recv",
        "flag": "get, flush, flag",
        "fence": "get, fence",
        "pscw": "start, get, complete",
        "counter": "get, counter (own: Intel's)",
        "get_notify": "get_notify, flush",
    },
}
OVERLAP_KINDS = {
    MESSAGES: "isend, wait",
    "fence": "put, fence",
    "put_notify": "put_notify, flush",
}
WAY_TITLES = {HOST: "own", ORIEL: "Oriel"}

# The paper's section V-A and, for shared memory, its Table I; nanoseconds.
PAPER_NS = {"init": 70, "free": 40, "start": 8, "put_notify": 290, "get_notify": 290, "test": 70}
PAPER_LATENCY_NS = 250
PAPER_GAP_NS = 0.08
CALL_TITLES = (
    ("t_init: ORIEL_Notify_init", "init", MANY),
    ("t_start: MPI_Start", "start", MANY),
    ("t_free: MPI_Request_free", "free", MANY),
    ("o_s: ORIEL_Put_notify, 8 B", "put_notify", MANY),
    ("o_s: ORIEL_Get_notify, 8 B", "get_notify", MANY),
    ("o_r: MPI_Test, one request", "test", ONE),
    ("o_r: MPI_Test, 32 requests, each", "test", MANY),
)
MATCHING_TITLES = {
    "active_same": "active, the same one",
    "active_each": "active, each in turn",
    "waiting_same": "waiting, the same one",
    "waiting_each": "waiting, each in turn",
}


def _microseconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _nanoseconds(value_us: float | None) -> str:
    if value_us is None:
        return "–"
    ns = 1e3 * value_us
    return f"{ns:.1f}" if ns < 10 else f"{ns:,.0f}"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _notified(times: NotifyTimes) -> list[str]:
    """Hosts on which notified access was measured."""
    return [host for host in times.hosts() if times.has(PUT, NOTIFIED[PUT], host, ORIEL)]


def round_trips(times: NotifyTimes, measure: str, host: str, title: str) -> Table:
    table = Table(title=f"{title}, {measure}: half round trip, µs", title_justify="left")
    table.add_column("")
    sizes = times.sizes(measure)
    for size in sizes:
        table.add_column(size_text(size), justify="right")
    for kind, name in KINDS[measure].items():
        for way in WAYS:
            if times.has(measure, kind, host, way):
                cells = [times.median(Row(measure, size), kind, host, way) for size in sizes]
                table.add_row(f"{name}: {WAY_TITLES[way]}", *map(_microseconds, cells))
    notified = NOTIFIED[measure]
    if times.has(measure, notified, host, ORIEL):
        ratios = [times.against_messages(measure, size, host) for size in sizes]
        table.add_row(f"{notified} / best messages", *map(_ratio, ratios))
        if measure == PUT:
            for kind in (notified, FLUSHED):
                ratios = [times.against_busy_wait(kind, size, host) for size in sizes]
                table.add_row(f"{KINDS[PUT][kind]} / busy wait", *map(_ratio, ratios))
    return table


def overlap(times: NotifyTimes, versions: dict[str, str]) -> Table:
    kinds = {
        f"{name}: {WAY_TITLES[way]}": (kind, way)
        for kind, name in OVERLAP_KINDS.items()
        for way in WAYS
    }
    return _hidden(times, versions, OVERLAP, "Latency hidden behind computation, %", kinds)


def epochs(times: NotifyTimes, versions: dict[str, str]) -> Table:
    kinds = {}
    for kind, name in EPOCH_KINDS.items():
        kinds |= {f"{name}: {WAY_TITLES[way]}": (kind, way) for way in WAYS}
        kinds[f"{name}: {WAY_TITLES[ORIEL]}, nonblocking"] = (nonblocking(kind), ORIEL)
    return _hidden(times, versions, EPOCHS, "Epochs hidden behind computation, %", kinds)


def _hidden(
    times: NotifyTimes,
    versions: dict[str, str],
    measure: str,
    title: str,
    kinds: dict[str, tuple[str, str]],
) -> Table:
    """`kinds`: by the text of a line, the kind and the way."""
    table = Table(title=title, title_justify="left")
    table.add_column("MPI")
    table.add_column("")
    sizes = times.sizes(measure)
    for size in sizes:
        table.add_column(size_text(size), justify="right")
    for host in times.hosts():
        for text, (kind, way) in kinds.items():
            if times.has(measure, kind, host, way):
                shares = [times.overlap(measure, kind, size, host, way) for size in sizes]
                cells = ["–" if share is None else f"{100 * share:.0f}" for share in shares]
                table.add_row(versions[host], text, *cells)
    return table


def costs(times: NotifyTimes, versions: dict[str, str]) -> Table:
    table = Table(title="Model (the paper's Table I), ns", title_justify="left")
    table.add_column("")
    table.add_column("paper", justify="right")
    hosts = _notified(times)
    for host in hosts:
        table.add_column(f"Oriel on {versions[host]}", justify="right")
    for title, call, requests in CALL_TITLES:
        cells = [times.median(Row(CALLS, requests), call, host, ORIEL) for host in hosts]
        table.add_row(title, f"{PAPER_NS[call]:g}", *map(_nanoseconds, cells))
    latencies = [times.latency_us(host) for host in hosts]
    table.add_row("L: empty put_notify", f"{PAPER_LATENCY_NS}", *map(_nanoseconds, latencies))
    gaps = [times.gap_ns(host) for host in hosts]
    cells = ["–" if gap is None else f"{gap:.3f}" for gap in gaps]
    table.add_row("G: for a byte more", f"{PAPER_GAP_NS:g}", *cells)
    return table


def matching(times: NotifyTimes, versions: dict[str, str]) -> Table:
    table = Table(title="One notification among many: start and wait, ns", title_justify="left")
    table.add_column("")
    hosts = _notified(times)
    for host in hosts:
        table.add_column(f"Oriel on {versions[host]}", justify="right")
    for kind, name in MATCHING_TITLES.items():
        for count in times.sizes(MATCHING):
            cells = [times.median(Row(MATCHING, count), kind, host, ORIEL) for host in hosts]
            if any(cells):
                table.add_row(f"{name}: {count:,}", *map(_nanoseconds, cells))
    return table


def _verdict(ratio: float | None, limit: float, sure: bool, where: str = "") -> Text:
    if ratio is None:
        return Text("–")
    if not sure:
        return Text("not known: mixed")
    told = f"({_ratio(ratio)}{where})"
    return Text(f"yes {told}") if ratio <= limit else Text(f"no {told}", style="red")


def goals(times: NotifyTimes, versions: dict[str, str], between_nodes: bool) -> Table:
    table = Table(title="Goals", title_justify="left")
    table.add_column("")
    hosts = _notified(times)
    for host in hosts:
        table.add_column(f"Oriel on {versions[host]}", justify="right")
    sure = not times.mixed(Row(PUT, SMALL))
    for kind in (NOTIFIED[PUT], FLUSHED):
        ratios = [times.against_busy_wait(kind, SMALL, host) for host in hosts]
        table.add_row(
            f"{KINDS[PUT][kind]} / busy wait, {size_text(SMALL)}: at most {BUSY_WAIT_LIMIT:g}",
            *(_verdict(ratio, BUSY_WAIT_LIMIT, sure) for ratio in ratios),
        )
    if not between_nodes:
        sure = not any(times.mixed(Row(PUT, size)) for size in times.sizes(PUT))
        slowest = [times.slowest_against_messages(host) for host in hosts]
        table.add_row(
            f"{NOTIFIED[PUT]} / best messages, every size: at most {MESSAGES_LIMIT:g}",
            *(
                _verdict(each[0], MESSAGES_LIMIT, sure, f" at {size_text(each[1])}")
                if each
                else "–"
                for each in slowest
            ),
        )
    return table


def told_misses(times: NotifyTimes, versions: dict[str, str]) -> list[str]:
    """What the target's processor counted, or why it did not, as sentences."""
    sentences = []
    for host, events in times.misses.items():
        for event, counts in events.items():
            told = ", ".join(
                f"{statistics.median(found):g} with {cache} caches"
                for cache, found in counts.items()
            )
            sentences.append(f"{versions[host]}, {event} in the MPI_Test that completes: {told}.")
    reasons: dict[str, list[str]] = {}
    for event, reason in times.uncounted.items():
        reasons.setdefault(reason, []).append(event)
    for reason, events in reasons.items():
        sentences.append(f"Not counted here: {', '.join(events)}, because {reason}.")
    return sentences
