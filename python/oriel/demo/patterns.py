# SPDX-License-Identifier: BSD-3-Clause
"""The paper's microbenchmarks: what each is called, who takes part and what is measured.

Source: "Nonblocking epochs in MPI one-sided communication", section VIII-A, Figures 2 to 11. How
each is played is in programs/patterns/.
"""

from __future__ import annotations

import dataclasses

MEBIBYTE = 1 << 20
WAYS = ("host", "blocking", "nonblocking")


@dataclasses.dataclass(frozen=True)
class Observation:
    """One measured quantity of a pattern, as the program names it and as people read it."""

    metric: str
    title: str  # on an axis
    sentence: str  # in a table
    beside_work: bool = False  # less the time that the pattern's work took in the same turn


@dataclasses.dataclass(frozen=True)
class Pattern:
    name: str
    figure: int
    title: str
    ranks: int
    setting: str
    outcome: str
    observations: tuple[Observation, ...]
    key: int  # which observation decides
    at_most: str = "work"  # the metric that bounds what may be lost
    flag: str = ""  # the paper's name of the flag; empty: an inefficiency pattern
    shape: str = "bars"  # "lines": over message sizes; "sizes": one group of bars per size

    @property
    def decisive(self) -> Observation:
        return self.observations[self.key]


INEFFICIENCIES = (
    Pattern(
        name="late_post",
        figure=2,
        title="Late Post",
        ranks=3,
        setting="P2 puts 1 MB to P0, which opens its exposure epoch 1000 µs late, and then sends "
        "1 MB to P1.",
        outcome="A blocking complete hands P0's delay on to the message for P1; a nonblocking one "
        "lets the message go at once.",
        observations=(
            Observation("access_epoch", "Access epoch", "access epoch of P2"),
            Observation(
                "subsequent", "Subsequent activity", "P2's message to P1 is sent (time from start)"
            ),
            Observation("cumulative", "Both (cumulative)", "both activities of P2"),
        ),
        key=1,
    ),
    Pattern(
        name="late_complete",
        figure=3,
        title="Late Complete",
        ranks=2,
        setting="The origin puts once and works 1000 µs before its access epoch is complete.",
        outcome="A blocking complete after the work makes the target wait for that work; a "
        "nonblocking one before it ends the target's epoch with the transfer.",
        observations=(Observation("target_epoch", "Target's epoch", "target's exposure epoch"),),
        key=0,
        shape="lines",
    ),
    Pattern(
        name="early_fence",
        figure=4,
        title="Early Fence",
        ranks=2,
        setting="The target closes a fence epoch while the put is under way and then works "
        "1000 µs.",
        outcome="After a blocking fence the work starts when the data is there; after a "
        "nonblocking one it overlaps the transfer.",
        observations=(
            Observation("cumulative", "Fence and work", "target's fence and work together"),
            Observation("cumulative", "Idle", "target's time beside its work", beside_work=True),
        ),
        key=1,
        at_most="transfer",
        shape="sizes",
    ),
    Pattern(
        name="wait_at_fence",
        figure=5,
        title="Wait at Fence",
        ranks=2,
        setting="The origin puts once and works 1000 µs before it waits for its closing fence.",
        outcome="A blocking fence after the work makes the target wait for that work; a "
        "nonblocking one before it does not.",
        observations=(Observation("target_epoch", "Target's epoch", "target's fence epoch"),),
        key=0,
        shape="lines",
    ),
    Pattern(
        name="late_unlock",
        figure=6,
        title="Late Unlock",
        ranks=3,
        setting="O0 and then O1 lock T exclusively and put 1 MB each; O0 works 1000 µs before its "
        "lock epoch is complete.",
        outcome="A blocking unlock after the work makes O1 wait for that work; a nonblocking one "
        "before it releases the lock when the data is there. A host MPI that takes locks only at "
        "unlock does not delay O1, but does not overlap anything with the work either.",
        observations=(
            Observation("first_lock", "First lock (O0)", "lock epoch of O0"),
            Observation("second_lock", "Second lock (O1)", "lock epoch of O1"),
        ),
        key=1,
    ),
)

FLAGS = (
    Pattern(
        name="aaar_gats",
        figure=7,
        title="Access after access, post and start",
        ranks=3,
        flag="A_A_A_R",
        setting="O puts to T0, which posts 1000 µs late, and then to T1.",
        outcome="With the flag T1 is served while T0 is late.",
        observations=(
            Observation("first_target", "Target T0", "exposure epoch of T0"),
            Observation("second_target", "Target T1", "exposure epoch of T1"),
            Observation("origin", "Origin (cumulative)", "both epochs of O"),
        ),
        key=1,
    ),
    Pattern(
        name="aaar_lock",
        figure=8,
        title="Access after access, locks",
        ranks=4,
        flag="A_A_A_R",
        setting="O0 holds the lock of T0 for 1000 µs; O1 asks for it, and then for that of T1.",
        outcome="With the flag O1's epoch at T1 is over before the lock of T0 is free; what O1 "
        "saves is its second transfer.",
        observations=(
            Observation("first_origin", "O0", "lock epoch of O0"),
            Observation("second_origin", "O1 (both epochs)", "both lock epochs of O1"),
            Observation(
                "second_origin",
                "O1 beside O0's work",
                "both lock epochs of O1, less O0's work",
                beside_work=True,
            ),
        ),
        key=2,
        at_most="transfer",
    ),
    Pattern(
        name="aaer",
        figure=9,
        title="Access after exposure",
        ranks=3,
        flag="A_A_E_R",
        setting="P2 exposes its memory to P0, which is 1000 µs late, and then puts to P1.",
        outcome="With the flag P1 gets its data while P0 is late.",
        observations=(
            Observation("late_origin", "Origin P0", "late access epoch of P0"),
            Observation("target", "Target P1", "exposure epoch of P1"),
            Observation("both", "P2 (cumulative)", "both epochs of P2"),
        ),
        key=1,
    ),
    Pattern(
        name="eaer",
        figure=10,
        title="Exposure after exposure",
        ranks=3,
        flag="E_A_E_R",
        setting="T exposes its memory to O0, which is 1000 µs late, and then to O1.",
        outcome="With the flag O1 gets access while O0 is late.",
        observations=(
            Observation("late_origin", "Origin O0", "late access epoch of O0"),
            Observation("origin", "Origin O1", "access epoch of O1"),
            Observation("both", "Target (cumulative)", "both epochs of T"),
        ),
        key=1,
    ),
    Pattern(
        name="eaar",
        figure=11,
        title="Exposure after access",
        ranks=3,
        flag="E_A_A_R",
        setting="P2 puts to P0, which posts 1000 µs late, and then exposes its memory to P1.",
        outcome="With the flag P1 gets access while P0 is late.",
        observations=(
            Observation("late_target", "Target P0", "late exposure epoch of P0"),
            Observation("origin", "Origin P1", "access epoch of P1"),
            Observation("both", "P2 (cumulative)", "both epochs of P2"),
        ),
        key=1,
    ),
)

PATTERNS = INEFFICIENCIES + FLAGS
