# SPDX-License-Identifier: BSD-3-Clause
"""The epochs of a rank, from opening to completion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from oriel.wait_states.rank_history import COMPLETE, FENCE_ENTRIES, History
from oriel.wait_states.record import EPOCH_KINDS, Entry


class ShownEpoch(NamedTuple):
    """An EpochSpan without its steps, of which it can have several for each rank."""

    history: History
    window: int
    kind: str
    begun: int
    active: int
    closed: int
    ended: int
    completed: bool


@dataclass
class EpochSpan:
    """An epoch of one rank. `history`, `window`: the rank's, and its number of it; `ended`: when
    the epoch completed, or the end of the record; `completed` tells the two apart. Times in
    nanoseconds."""

    history: History
    window: int
    kind: str
    begun: int
    ended: int = 0
    completed: bool = False
    steps: list[Entry] = field(default_factory=list)
    _times: dict[str, int] = field(default_factory=dict)

    def add(self, step: Entry) -> None:
        self.steps.append(step)
        self._times.setdefault(step.kind, step.time)

    @property
    def length(self) -> int:
        return self.ended - self.begun

    def time_of(self, *kinds: str) -> int | None:
        """When the first step of one of these kinds was."""
        return next((self._times[kind] for kind in kinds if kind in self._times), None)

    def without_steps(self) -> ShownEpoch:
        active, closed = self.time_of("activated"), self.time_of(*FENCE_ENTRIES)
        return ShownEpoch(
            self.history,
            self.window,
            self.kind,
            self.begun,
            self.ended if active is None else active,
            self.ended if closed is None else closed,
            self.ended,
            self.completed,
        )


def epochs_of(history: History) -> Iterator[EpochSpan]:
    """In the order of completion; those that never completed last."""
    # A fence epoch has another number when it is closed; a window's fences come in order.
    pending: dict[tuple[int, str, int], list[EpochSpan]] = defaultdict(list)
    for step in history.steps:
        kind = step.kind
        if kind not in EPOCH_KINDS:
            continue
        key = step.window, step.detail, 0 if step.detail == "fence" else step.number
        epochs = pending[key]
        if kind == "opened":
            epochs.append(_opened(history, step))
            continue
        if kind == "deferred":  # which is told in the opening
            found = epochs[-1] if epochs else None
        elif kind in ("granted", "told"):  # once for each peer
            found = epochs[0] if epochs else None
        else:
            found = next((each for each in epochs if each.time_of(kind) is None), None)
        if found:  # else it was opened before the record begins
            found.add(step)
            if kind in COMPLETE:
                epochs.remove(found)
                found.ended, found.completed = step.time, True
                yield found
            if kind == "renewed":
                epochs.append(_opened(history, step._replace(kind="opened")))
                epochs[-1].add(step._replace(kind="activated"))
        if not epochs:
            del pending[key]
    for epochs in pending.values():
        for epoch in epochs:
            epoch.ended = max(history.ended, epoch.begun)
            yield epoch


def _opened(history: History, step: Entry) -> EpochSpan:
    epoch = EpochSpan(history, step.window, step.detail, step.time)
    epoch.add(step)
    return epoch
