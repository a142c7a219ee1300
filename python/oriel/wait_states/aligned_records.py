# SPDX-License-Identifier: BSD-3-Clause
"""The machines of a run, and the clock by which the times of their records are compared.

It is that of the machine with the lowest rank. The others are compared with it, or with one that
has been compared: on the way on which the sum of the errors is the smallest (Dijkstra). A machine
that nothing compares with these keeps its own clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from oriel.wait_states.machine_clock import MachineClock, fit
from oriel.wait_states.record import Record
from oriel.wait_states.sync_points import Pair, bounds_between, points_by_machines


@dataclass(frozen=True)
class Machine:
    """`timed_by`: the boot of the machine by whose clock its times are, by `clock`; None: its own.
    `error`: nanoseconds by which its times and those of that machine may be wrong to one
    another."""

    boot: str
    records: tuple[Record, ...]
    timed_by: str
    clock: MachineClock | None = None
    error: float = 0.0

    def map(self, time: int) -> int:
        return self.clock.map(time) if self.clock else time

    def align(self, record: Record) -> Record:
        return record.with_clock(self.clock, self.timed_by) if self.clock else record

    @property
    def hosts(self) -> list[str]:
        """Several: nodes on one machine."""
        return sorted({record.host for record in self.records})


def most_error(machines: Sequence[Machine]) -> float:
    """Nanoseconds by which times of two machines by one clock may be wrong to one another."""
    errors: dict[str, list[float]] = {}
    for machine in machines:
        errors.setdefault(machine.timed_by, []).append(machine.error)
    return max(sum(heapq.nlargest(2, its)) for its in errors.values())


def machines_of(records: Sequence[Record]) -> list[Machine]:
    """`records`: the lowest rank first."""
    by_boot: dict[str, list[Record]] = {}
    for record in records:
        by_boot.setdefault(record.boot, []).append(record)
    pairs = points_by_machines(records) if len(by_boot) > 1 else {}
    found: dict[str, Machine] = {}
    for boot in by_boot:
        if boot not in found:
            found.update((each.boot, each) for each in _compared(boot, by_boot, pairs))
    return list(found.values())


def _compared(
    reference: str, by_boot: Mapping[str, list[Record]], pairs: Mapping[tuple[str, str], list[Pair]]
) -> Iterator[Machine]:
    """The reference, and those whose clocks can be compared with its one."""
    order = count()  # of equal errors
    nearest = [(0.0, next(order), Machine(reference, tuple(by_boot[reference]), reference))]
    known: set[str] = set()
    while nearest:
        _, _, machine = heapq.heappop(nearest)
        if machine.boot in known:
            continue
        known.add(machine.boot)
        yield machine
        for boot, records in by_boot.items():
            between = pairs.get((boot, machine.boot))
            if between is None or boot in known:
                continue
            begun = min(record.begun for record in records)
            ended = max(record.ended or record.last_time() for record in records)
            clock = fit(bounds_between(between, machine.map), begun, ended)
            if clock:
                error = machine.error + clock.error
                other = Machine(boot, tuple(records), reference, clock, error)
                heapq.heappush(nearest, (error, next(order), other))
