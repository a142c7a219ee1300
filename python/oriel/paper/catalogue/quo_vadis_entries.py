# SPDX-License-Identifier: BSD-3-Clause
"""The paper on windows, scopes and memory handles: Figures 1 to 12, Table 1."""

from __future__ import annotations

from oriel.bench.progress import BUSY, IDLE
from oriel.bench.threads_times import PAPER_THREADS, PUTS, ROW
from oriel.bench.windows import MAKING, PUT
from oriel.paper.entries import HIGHER, Entry, Paper, Value
from oriel.paper.readings import (
    MEDIAN,
    OURS,
    OWN,
    Fields,
    Reader,
    difference,
    field,
    least,
    most,
    one,
    ratio,
)


def _penalty(way: Fields, window: str) -> Reader:
    return one({**way, "measure": PUT, "window": window}, field("penalty"), bytes=least)


def _puts(way: Fields, scope: str, order: bool = False, measure: str = PUTS) -> Fields:
    return {**way, "measure": measure, "scope": scope, "order": order}


_PLAIN = _puts(OURS, "process")
_THREAD = _puts(OURS, "thread")
_HOST = _puts(OWN, "process")
_ORDERED = _puts(OURS, "process", order=True)
_ONE_THREAD = {"threads": 1}


QUO_VADIS = Paper(
    "quo-vadis",
    "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication",
    "Schuchart, Niethammer, Gracia, Bosilca",
    (
        Entry("Figure 1", "Drawing: scopes of a flush", note="A drawing without numbers."),
        Entry("Figure 2", "Drawing: two windows, one memory", note="A drawing without numbers."),
        Entry(
            "Figure 3",
            "Drawing: a put on static and dynamic windows",
            note="A drawing without numbers. docs/protocols.md has Oriel's steps.",
        ),
        Entry(
            "Table 1",
            "Versions of the software that the paper measures",
            note="Open MPI 4.0.5, MPICH 4.0.a, MVAPICH 2.3.5, UCX 1.10.0 there. The list of runs "
            "has the versions here.",
        ),
        Entry(
            "Figure 4",
            "Put and flush on dynamic windows against allocated ones",
            "windows",
            ("windows.svg",),
            (
                Value(
                    "dynamic / allocated, memory from MPI_Alloc_mem",
                    1.5,
                    _penalty(OURS, "dynamic-alloc"),
                    text="1.5 (MPICH), 3 (Open MPI)",
                ),
                Value(
                    "the same, the host's own",
                    None,
                    _penalty(OWN, "dynamic-alloc"),
                    text="1.5 (MPICH), 3 (Open MPI)",
                ),
                Value(
                    "dynamic / allocated, memory from malloc",
                    1.5,
                    _penalty(OURS, "dynamic"),
                    text="1.5 (MPICH), 3 (Open MPI)",
                ),
            ),
            "Memory from malloc is not mapped by the other rank: a put is a system call "
            "(process_vm_writev), which takes more than a hundred times a store. The paper "
            "compares registered memory with registered memory, as the first line does. The limit "
            "of the third line is the system call.",
        ),
        Entry(
            "Figure 5",
            "100,000 puts and flushes while the target computes for three seconds",
            "progress",
            ("progress.svg",),
            (
                Value(
                    "dynamic window, target computes: µs for each",
                    30,
                    one({**OURS, "window": "dynamic", "target": BUSY}),
                    unit="µs",
                    text="above 30 on MPICH and MVAPICH: waits",
                ),
                Value(
                    "the same, the host's own",
                    None,
                    one({**OWN, "window": "dynamic", "target": BUSY}),
                    unit="µs",
                    text="above 30 on MPICH and MVAPICH: waits",
                ),
                Value(
                    "dynamic window, target computes / is idle",
                    1,
                    ratio(
                        {**OURS, "window": "dynamic", "target": BUSY},
                        {**OURS, "window": "dynamic", "target": IDLE},
                    ),
                    text="about 1 where nothing waits",
                    margin=0.15,
                ),
            ),
        ),
        Entry(
            "Figure 6", "Drawing: how memory handles are used", note="A drawing without numbers."
        ),
        Entry(
            "Figure 7",
            "Drawing: flushes over the endpoints of threads",
            note="A drawing without numbers. docs/design/threads.md has Oriel's threads.",
        ),
        Entry(
            "Figure 8a",
            "Put and flush by one thread, by scope",
            "threads",
            ("threads_size.svg",),
            (
                Value(
                    "thread scope / process scope, shortest",
                    1,
                    ratio({**_THREAD, **_ONE_THREAD}, {**_PLAIN, **_ONE_THREAD}, bytes=least),
                    text="about 1, a little less",
                    margin=0.1,
                ),
            ),
        ),
        Entry(
            "Figure 8b",
            f"Put and flush by {PAPER_THREADS} threads, by scope",
            "threads",
            ("threads_size.svg",),
            (
                Value(
                    "the host's own / Oriel with thread scope, shortest",
                    10,
                    ratio(_HOST, _THREAD, threads=most, bytes=least),
                    HIGHER,
                    text="10 (MPICH, MVAPICH), near 100 (Open MPI)",
                ),
                Value(
                    "the same, longest",
                    2,
                    ratio(_HOST, _THREAD, threads=most, bytes=most),
                    HIGHER,
                    text="2",
                ),
            ),
            "On mapped memory a put of 1 B is a store, which Open MPI's own makes without a lock, "
            "too: little is left to be saved. Longest puts are copies, which the cores share: "
            "nothing but memcpy is left of either.",
        ),
        Entry(
            "Figure 9",
            "Put and flush of 1 B over the number of threads",
            "threads",
            ("threads.svg",),
            (
                Value(
                    "process scope / thread scope, most threads",
                    None,
                    ratio(_PLAIN, _THREAD, threads=most, bytes=least),
                    HIGHER,
                    text="near 100 on Open MPI",
                ),
            ),
            "Process scope of Oriel has nothing to wait for on mapped memory, so thread scope has "
            "nothing to save there. The paper's gain is the cost of its process scope.",
        ),
        Entry(
            "Figure 10",
            "Puts in a row, ordered, against a flush after each",
            "threads",
            ("threads_row.svg",),
            (
                Value(
                    "ordered, one flush for 64 / a flush for each, shortest",
                    1,
                    ratio(
                        {**_puts(OURS, "process", True, ROW), **_ONE_THREAD},
                        {**_PLAIN, **_ONE_THREAD},
                        bytes=least,
                    ),
                    text="much less than 1",
                ),
                Value(
                    "ordered / not ordered, one flush for 64, shortest",
                    None,
                    ratio(
                        {**_puts(OURS, "process", True, ROW), **_ONE_THREAD},
                        {**_puts(OURS, "process", False, ROW), **_ONE_THREAD},
                        bytes=least,
                    ),
                    text="some more than 1",
                ),
            ),
            "A flush on mapped memory is a fence of the processor, not a round trip: little is "
            "there to be saved.",
        ),
        Entry(
            "Figure 11",
            f"Put and flush by {PAPER_THREADS} threads, with order",
            "threads",
            ("threads_size.svg",),
            (
                Value(
                    "ordered / not ordered, process scope, shortest",
                    1,
                    ratio(_ORDERED, _PLAIN, threads=most, bytes=least),
                    text="less than 1",
                ),
            ),
            "The paper's order sends everything through one endpoint, which its flush then reads "
            "alone. Oriel's puts are in order on mapped memory without that, so nothing changes.",
        ),
        Entry(
            "Figure 12",
            "Put and flush on windows from memory handles",
            "windows",
            ("windows.svg",),
            (
                Value(
                    "handle / allocated, memory from MPI_Alloc_mem",
                    1,
                    _penalty(OURS, "handle-alloc"),
                    text="about 1",
                    margin=0.05,
                ),
                Value(
                    "handle / created, memory from malloc",
                    1,
                    ratio(
                        {**OURS, "measure": PUT, "window": "handle"},
                        {**OURS, "measure": PUT, "window": "created"},
                        bytes=least,
                    ),
                    text="about 1",
                    margin=0.05,
                ),
                Value(
                    "window made, used and freed for each put: more than without",
                    1,
                    difference(
                        {**OURS, "measure": PUT, "window": "handle-alloc-new"},
                        {**OURS, "measure": PUT, "window": "handle-alloc"},
                        bytes=least,
                    ),
                    unit="µs",
                    text="about 1",
                ),
                Value(
                    "MPI_Win_allocate and free",
                    None,
                    one({**OURS, "measure": MAKING, "window": "allocated", "others": 0}, MEDIAN),
                    unit="µs",
                    text="not in the paper",
                ),
            ),
            "A put through a handle checks whether the handle has been released: some "
            "nanoseconds, of a put that takes 8.",
        ),
        Entry(
            "Abstract",
            "“Reduced overheads for multi-threaded flushes, zero overhead dynamic memory window "
            "usage”",
            note="The numbers of Figures 8, 9 and 12.",
        ),
    ),
)
