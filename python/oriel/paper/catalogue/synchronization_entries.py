# SPDX-License-Identifier: BSD-3-Clause
"""The paper on synchronization overhead: Figures 1 to 6, Tables 1 and 2."""

from __future__ import annotations

from oriel.bench.halo import PAPER, PAPER_SIZES
from oriel.bench.variant_times import MESSAGES
from oriel.paper.entries import HIGHER, Entry, Paper, Value
from oriel.paper.readings import OURS, OWN, Fields, ratio
from oriel.report.units import size_text

_TITLES = {"fence": "fence", "post_start": "pscw", "lock": "lock"}
_SHORT = PAPER_SIZES[0]
# At 16 B, Tables 1 and 2: what the others' ratios are to the same host's messages.
_LAM = {"fence": 18.9, "post_start": 3.3}
_SUN = {"fence": 6.9, "post_start": 6.0, "lock": 6.5}


def _row(way: Fields, variant: str, size: int) -> Fields:
    return {**way, "variant": variant, "bytes": size}


def _ratios(machine: str) -> tuple[Value, ...]:
    return tuple(
        Value(
            f"{_TITLES[variant]} / messages, {size_text(size)}",
            number,
            ratio(_row(OURS, variant, size), _row(OWN, MESSAGES, size)),
        )
        for variant, numbers in PAPER[machine].items()
        for size, number in numbers.items()
    )


def _gains(others: dict[str, float], machine: str, name: str) -> tuple[Value, ...]:
    return tuple(
        Value(
            f"{_TITLES[variant]}: the host's own / Oriel's time, {size_text(_SHORT)}",
            other / PAPER[machine][variant][_SHORT],
            ratio(_row(OWN, variant, _SHORT), _row(OURS, variant, _SHORT)),
            HIGHER,
            text=f"{other / PAPER[machine][variant][_SHORT]:.1f} ({name} / MPICH2)",
        )
        for variant, other in others.items()
    )


SYNCHRONIZATION = Paper(
    "synchronization",
    "Minimizing Synchronization Overhead in the Implementation of MPI One-Sided Communication",
    "Thakur, Gropp, Toonen",
    (
        Entry(
            "Figure 1",
            "Listing: the test with fences",
            note="A listing. The program `halo` does the same with the same assertions.",
        ),
        Entry(
            "Figure 2",
            "The exchange of ghost cells on IBM MPI, Sun MPI and LAM",
            "halo",
            (),
            tuple(
                Value(
                    f"the host's own {_TITLES[variant]} / messages, {size_text(_SHORT)}",
                    None,
                    ratio(_row(OWN, variant, _SHORT), _row(OWN, MESSAGES, _SHORT)),
                    text=text,
                )
                for variant, text in (
                    ("fence", "LAM 18.9, Sun 6.9, IBM near 100"),
                    ("post_start", "LAM 3.3, Sun 6.0, IBM near 100"),
                    ("lock", "Sun 6.5, IBM near 100"),
                )
            ),
            "The paper's three libraries are no longer in use. The hosts of today, alone, take "
            "their place; Oriel's ratios are those of Tables 1 and 2.",
        ),
        Entry(
            "Figure 3",
            "Drawing: the three kinds of synchronization",
            note="A drawing without numbers.",
        ),
        Entry(
            "Figure 4",
            "Drawing: reduce-scatter in a fence",
            note="A drawing without numbers. docs/protocols.md has Oriel's fence; it counts in "
            "log n messages between nodes and needs no count on a node.",
        ),
        Entry(
            "Figure 5",
            "Drawing: messages of lock and unlock",
            note="A drawing without numbers. docs/protocols.md has Oriel's messages.",
        ),
        Entry(
            "Figure 6, left",
            "The exchange of ghost cells on MPICH2 by TCP: ours between two nodes",
            "halo-nodes",
            ("halo.svg",),
            note="Table 1 has its numbers as ratios.",
        ),
        Entry(
            "Figure 6, right",
            "The exchange of ghost cells on MPICH2 by shared memory: ours on one node",
            "halo",
            ("halo.svg",),
            note="Table 2 has its numbers as ratios.",
        ),
        Entry(
            "Table 1",
            "Time of a step to that with messages, Linux cluster with TCP; ours between two nodes",
            "halo-nodes",
            (),
            _ratios("cluster"),
            "Long messages are a matter of TCP's bandwidth for both. A ratio near 1 is the limit "
            "there, and single runs differ by a third.",
        ),
        Entry(
            "Table 2",
            "Time of a step to that with messages, Sun SMP; ours on one node",
            "halo",
            (),
            _ratios("SMP"),
        ),
        Entry(
            "Abstract",
            "“Six times faster than LAM for fence, 50 % faster for post-start-complete-wait”",
            "halo-nodes",
            (),
            _gains(_LAM, "cluster", "LAM"),
            "The paper compares ratios to messages, of two libraries on one machine. Ours "
            "compares the times of Oriel with those of the host alone.",
        ),
        Entry(
            "Abstract",
            "“More than twice as fast as Sun MPI for all three”",
            "halo",
            (),
            _gains(_SUN, "SMP", "Sun"),
            "MPICH, Open MPI and Intel MPI have shared-memory windows, which the paper calls "
            "future work. A fence on a node takes at least one journey of a cache line each way, "
            "so where a host's own fence is near that, no factor of two is left.",
        ),
    ),
)
