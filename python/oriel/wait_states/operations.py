# SPDX-License-Identifier: BSD-3-Clause
"""The operations of a run that was recorded with ORIEL_TIMELINE, and what became of their
notifications."""

from __future__ import annotations

from dataclasses import dataclass

from oriel.wait_states.channels import Channels
from oriel.wait_states.rank_history import History
from oriel.wait_states.record import OPERATION_KINDS, Entry, WindowOfRank
from oriel.wait_states.recorded_run import Run


@dataclass(eq=False)
class Taking:
    """A request of this rank has taken a notification, or a look at a counter has found so many
    that had not been seen before."""

    history: History
    time: int
    name: str
    number: int = 1


@dataclass(eq=False)
class Operation:
    """A one-sided operation, or a transfer of a persistent collective. Times in nanoseconds.
    `rank`: of the target, in the window; `ended`: where that is recorded; `target`: its record, if
    it has one; `arrived`: when it has taken place there at the latest; `about`: what else is known
    of it; `taking`: of its notification."""

    origin: History
    window: WindowOfRank | None
    name: str
    begun: int
    rank: int
    bytes: int
    about: dict[str, int | str]
    ended: int | None = None
    target: History | None = None
    arrived: int | None = None
    taking: Taking | None = None

    @property
    def taken(self) -> int | None:
        """When its notification was. Ranks read their clocks some ten nanoseconds apart."""
        return self.taking and max(self.taking.time, self.begun)


def first_operations(run: Run, most: int) -> list[Operation]:
    """So many of all ranks, in the order of time. Notifications of one origin, target and tag are
    matched in their order (docs/protocols.md), those of a counter in the order of time."""
    operations: list[Operation] = []
    under_way: dict[tuple[History, int], Operation] = {}
    last: dict[History, Operation] = {}
    notifications: Channels[Operation, Taking] = Channels()
    for history, entry in run.in_order((*OPERATION_KINDS, "notification_counted")):
        window = history.record.windows.get(entry.window)
        if entry.kind == "operation_issued":
            if len(operations) == most:
                break
            operation = _issued(run, history, window, entry)
            operations.append(operation)
            under_way[history, entry.id] = last[history] = operation
        elif entry.kind == "operation_done":
            done = under_way.pop((history, entry.id), None)
            if done:
                done.ended = max(entry.time, done.begun + 1)
                if done.target:
                    done.arrived = done.ended
        elif entry.kind == "notification_sent":  # directly behind its operation
            last[history].about[entry.detail] = entry.id
            if window:
                channel = _channel(history, entry, window.rank, entry.rank)
                for sent, taking in notifications.send(channel, last[history]):
                    sent.taking = taking
        elif window:
            number = entry.number if entry.kind == "notification_counted" else 1
            taking = Taking(history, entry.time, f"{entry.detail} {entry.id}", number)
            channel = _channel(history, entry, entry.rank, window.rank)
            for sent, _ in notifications.receive(channel, taking, number):
                sent.taking = taking
    return operations


def _issued(run: Run, history: History, window: WindowOfRank | None, entry: Entry) -> Operation:
    target = run.peer(history, window, entry.rank)
    return Operation(
        history,
        window,
        entry.detail,
        entry.time,
        entry.rank,
        entry.number,
        {"protocol": entry.protocol},
        target=target,
        arrived=target and entry.time,
    )


def _channel(history: History, entry: Entry, origin: int, target: int) -> tuple:
    """All that add to a counter do so in one."""
    window = history.record.windows[entry.window]
    origin = -1 if entry.detail == "counter" else origin
    return (history.record.timed_by, window.key, origin, target, entry.detail, entry.id)
