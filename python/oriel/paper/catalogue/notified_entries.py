# SPDX-License-Identifier: BSD-3-Clause
"""The paper on notified access: Figures 1 to 5, Table I, section V."""

from __future__ import annotations

import statistics

from oriel.bench import cholesky, stencil
from oriel.bench.notified_variants import NOTIFY
from oriel.bench.notify_times import CALLS, GET, MANY, MESSAGES, NOTIFIED, ONE, OVERLAP, PUT
from oriel.bench.tree import REDUCE
from oriel.paper.entries import HIGHER, Entry, Paper, Value
from oriel.paper.readings import (
    MEDIAN,
    OURS,
    OWN,
    Pick,
    Reader,
    Reading,
    field,
    least,
    most,
    one,
    ratio,
)
from oriel.report.units import size_text

_ONE_SIDED = ("fence", "pscw")


def _trip(measure: str, kind: str) -> dict:
    return {"measure": measure, "row": kind}


def _against(measure: str, *others: str, size: int = 8) -> Reader:
    """Half a round trip against the host's own. 8 B: the shortest there is with data."""
    length = {"size": size}
    return ratio(
        {**OURS, **_trip(measure, NOTIFIED[measure]), **length},
        [{**OWN, **_trip(measure, other), **length} for other in others],
    )


def _against_messages(size: int) -> Value:
    return Value(
        f"put_notify / the host's own messages, {size_text(size)}",
        1,
        _against(PUT, MESSAGES, size=size),
        text="less than 1",
    )


def _nanoseconds(call: str, requests: int) -> Reader:
    return one({**OURS, "measure": CALLS, "row": call, "size": requests}, field("median", 1e3))


def _latency() -> Reader:
    return one({**OURS, **_trip(PUT, NOTIFIED[PUT]), "size": 0}, field("median", 1e3))


def _gap() -> Reader:
    """Nanoseconds for a byte more, over the long sizes."""

    def read(results: dict, host: str) -> Reading | None:
        fields = {**OURS, **_trip(PUT, NOTIFIED[PUT])}
        sizes = sorted(
            row["size"]
            for row in results["rows"]
            if row["host"] == host and all(row[name] == fields[name] for name in fields)
        )
        long = [size for size in sizes if size >= 32 << 10] or sizes
        if len(long) < 2:
            long = [size for size in sizes if size]
        if len(long) < 2:
            return None
        first, last = (
            one({**fields, "size": size}, MEDIAN)(results, host) for size in (long[0], long[-1])
        )
        if not (first and last):
            return None
        return Reading(1e3 * (last.number - first.number) / (long[-1] - long[0]))

    return read


def _hidden(size: Pick) -> Reader:
    fields = {**OURS, **_trip(OVERLAP, NOTIFIED[PUT])}
    return one(fields, field("overlap", 100), size=size)


def _misses(results: dict, host: str) -> Reading | None:
    events = results.get("misses", {}).get(host, {})
    counts = [statistics.median(found) for caches in events.values() for found in caches.values()]
    return Reading(max(counts)) if counts else None


def _speed(scaling: str) -> Reader:
    return one({**OURS, "variant": NOTIFY, "scaling": scaling}, field("speed"), ranks=most)


_STENCIL = stencil.PAPER[NOTIFY]
_STENCIL_NOTE = (
    "Not measured: 32 and more ranks, which need as many cores. With 1280 columns for each value "
    "sent, a rank of today computes a row in little more time than a message takes. The figure's "
    "line `limit` is the same without any communication: no way of sending can be faster, and "
    "ours is near it."
)


NOTIFIED_ACCESS = Paper(
    "notified",
    "Notified Access: Extending Remote Memory Access Programming Models for Producer-Consumer "
    "Synchronization",
    "Belli, Hoefler",
    (
        Entry(
            "Figure 1",
            "Pipelined stencil, strong scaling",
            "stencil",
            ("stencil.svg",),
            (
                Value(
                    "speed, notified access / the host's own messages",
                    _STENCIL["strong"],
                    _speed("strong"),
                    HIGHER,
                    text="more than 1.4 (32 ranks)",
                ),
            ),
            _STENCIL_NOTE,
        ),
        Entry(
            "Figure 2",
            "Drawing: a task graph, and the messages of each protocol",
            note="A drawing without numbers. docs/protocols.md has Oriel's messages: one for a "
            "notified put.",
        ),
        Entry(
            "Figure 3a",
            "Ping-pong by notified put, between two nodes",
            "notify-nodes",
            ("notify_put.svg",),
            (
                Value(
                    "put_notify / the host's own one-sided, 8 B",
                    0.5,
                    _against(PUT, *_ONE_SIDED),
                    text="less than 0.5",
                ),
                *map(_against_messages, (8, 4 << 10, 32 << 10, 256 << 10)),
            ),
            "A notified put and a message are one packet each over TCP, so for 8 B they cost the "
            "same two system calls. Up to 128 KiB a notified put is copied into its packet and out "
            "of it; a longer one goes from buffer to buffer.",
        ),
        Entry(
            "Figure 3b",
            "Ping-pong by notified get, between two nodes",
            "notify-nodes",
            ("notify_get.svg",),
            (
                Value(
                    "get_notify / the host's own one-sided, 8 B",
                    1,
                    _against(GET, *_ONE_SIDED),
                    text="less than 1",
                ),
                Value(
                    "get_notify / the host's own messages, 8 B",
                    None,
                    _against(GET, MESSAGES),
                    text="more than 1: a get is two journeys",
                ),
            ),
        ),
        Entry(
            "Figure 3c",
            "Ping-pong by notified put, shared memory",
            "notify",
            ("notify_put.svg",),
            (
                Value(
                    "put_notify / the host's own messages, 8 B",
                    1,
                    _against(PUT, MESSAGES),
                    text="about 1",
                    margin=0.05,
                ),
                Value(
                    "put_notify / the host's own one-sided, 8 B",
                    1,
                    _against(PUT, *_ONE_SIDED),
                    text="less than 1",
                ),
            ),
            "The lower bound is one journey of a cache line each way.",
        ),
        Entry(
            "Table I, Shared Memory",
            "LogGP parameters of notified access",
            "notify",
            (),
            (
                Value("L", 250, _latency(), unit="ns"),
                Value("G, for a byte", 0.08, _gap(), unit="ns"),
            ),
            "L includes o_s and o_r here. It is one journey of a cache line and changes with the "
            "distance of the cores. G is memcpy.",
        ),
        Entry(
            "Table I, uGNI FMA",
            "LogGP parameters of notified access; ours over TCP, between two nodes",
            "notify-nodes",
            (),
            (
                Value("L", 1020, _latency(), unit="ns"),
                Value("G, for a byte", 0.105, _gap(), unit="ns", text="0.105"),
            ),
            "Aries carries a put in hardware. Here each packet takes system calls of both nodes, "
            "and so does a round trip by plain sockets: no library over TCP can be near 1 µs.",
        ),
        Entry(
            "Table I, uGNI BTE",
            "LogGP parameters of notified access; ours over TCP, between two nodes",
            "notify-nodes",
            (),
            (
                Value("L", 1320, _latency(), unit="ns"),
                Value("G, for a byte", 0.101, _gap(), unit="ns"),
            ),
            "As above.",
        ),
        Entry(
            "Section V",
            "Cache misses of the test that completes the only active request",
            "notify",
            (),
            (Value("misses at most", 2, _misses),),
            "Counted by the processor's counters, which virtual machines seldom have. By "
            "construction: the request, and the line of the notification.",
        ),
        Entry(
            "Section V-A",
            "What the calls cost",
            "notify",
            (),
            (
                Value("t_init: MPI_Notify_init", 70, _nanoseconds("init", MANY), unit="ns"),
                Value("t_free: MPI_Request_free", 40, _nanoseconds("free", MANY), unit="ns"),
                Value("t_start: MPI_Start", 8, _nanoseconds("start", MANY), unit="ns"),
                Value("t_na: put_notify", 290, _nanoseconds("put_notify", MANY), unit="ns"),
                Value("t_na: get_notify", 290, _nanoseconds("get_notify", MANY), unit="ns"),
                Value("o_r: MPI_Test, one request", 70, _nanoseconds("test", ONE), unit="ns"),
            ),
            "t_start: the paper stores one integer into its own request. MPI_Start here is the "
            "host's, which Oriel takes over by preloading, so it looks the request up first.",
        ),
        Entry(
            "Figure 4a",
            "Overlap of communication and computation, between two nodes",
            "notify-nodes",
            ("notify_overlap.svg",),
            (
                Value(
                    "hidden of put_notify's latency, longest",
                    None,
                    _hidden(most),
                    HIGHER,
                    "%",
                    "a curve: high for all sizes",
                ),
                Value(
                    "hidden of put_notify's latency, shortest",
                    None,
                    _hidden(least),
                    HIGHER,
                    "%",
                    "a curve: high for all sizes",
                ),
            ),
            "TCP needs a core to send, and the two nodes share the machine's cores. Aries moves "
            "the data by itself.",
        ),
        Entry(
            "Figure 4b",
            "Pipelined stencil, weak scaling",
            "stencil",
            ("stencil.svg",),
            (
                Value(
                    "speed, notified access / the host's own messages",
                    _STENCIL["weak"],
                    _speed("weak"),
                    HIGHER,
                    text="more than 2.17",
                ),
            ),
            _STENCIL_NOTE,
        ),
        Entry(
            "Figure 4c",
            "Reduction along a tree with 16 children",
            "tree",
            ("tree.svg",),
            (
                Value(
                    "notified access / the host's own MPI_Reduce, 8 B",
                    1,
                    ratio(
                        {**OURS, "variant": NOTIFY, "bytes": 8},
                        {**OWN, "variant": REDUCE, "bytes": 8},
                        ranks=most,
                    ),
                    text="less than 1",
                ),
                Value(
                    "notified access / the host's own messages, 8 B",
                    1,
                    one({**OURS, "variant": NOTIFY, "bytes": 8}, field("ratio"), ranks=most),
                    text="less than 1",
                ),
            ),
            "Two ranks are a tree with one child: one message. The limit is the journey of one "
            "cache line; `oriel bench tree -n 17` measures a parent with 16 children where there "
            "are cores.",
        ),
        Entry(
            "Figure 5",
            "Cholesky factorization by tasks",
            "cholesky",
            ("cholesky.svg",),
            (
                Value(
                    "speed, notified access / the host's own messages",
                    cholesky.PAPER[NOTIFY][1],
                    one(
                        {**OURS, "variant": NOTIFY, "tiles_per_rank": 1},
                        field("speed"),
                        ranks=most,
                    ),
                    HIGHER,
                    text="1.95",
                ),
                Value(
                    "the same with 16 tiles per rank",
                    None,
                    one(
                        {**OURS, "variant": NOTIFY},
                        field("speed"),
                        ranks=most,
                        tiles_per_rank=most,
                    ),
                    HIGHER,
                    text="not in the paper",
                ),
                Value(
                    "speed, notified access / the host's own one-sided",
                    cholesky.PAPER[NOTIFY][1],
                    ratio(
                        {**OWN, "variant": cholesky.ONE_SIDED, "tiles_per_rank": 1},
                        {**OURS, "variant": NOTIFY, "tiles_per_rank": 1},
                        ranks=most,
                    ),
                    HIGHER,
                    text="more than 1.95",
                ),
            ),
            "Not measured: 8 to 128 ranks. With one tile for each rank, two ranks exchange a few "
            "tiles of 8 KB; most of the time is LAPACK's. The gain grows with the share that "
            "messages have, which is larger on many ranks and smaller with more tiles.",
        ),
        Entry(
            "Abstract",
            "“Up to 50 % speedup on small messages”, “up to 2x for a small Cholesky factorization”",
            note="The numbers of Figures 3 and 5.",
        ),
    ),
)
