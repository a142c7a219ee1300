# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `oriel bench notify`."""

from __future__ import annotations

import statistics

from rich.table import Table
from rich.text import Text

from oriel.bench.notify.notify_times import (
    BUSY_WAIT,
    BUSY_WAIT_LIMIT,
    CALLS,
    EPOCH_KINDS,
    EPOCHS,
    FLUSHED,
    GET,
    MANY,
    MATCHING,
    MESSAGES,
    MESSAGES_LIMIT,
    NOTIFIED,
    ONE,
    OVERLAP,
    PUT,
    SMALL,
    NotifyTimes,
    Row,
    nonblocking,
)
from oriel.bench.ways import HOST, ORIEL, WAYS
from oriel.report.units import size_text

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
