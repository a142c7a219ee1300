# SPDX-License-Identifier: BSD-3-Clause
"""Points of a run which steps of one machine precede, and steps of another one follow, whatever
their clocks say. docs/design/wait_states.md (*Clocks of several machines*) has the reason for each
kind.

Of a long run some points are enough: those whose numbers, which are the same on all ranks, are
multiples. They are spread over the run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oriel.wait_states.machine_clock import Bound
from oriel.wait_states.rank_history import COMPLETE, FENCE_ENTRIES, MAKING
from oriel.wait_states.record import Entry, Record, WindowKey, WindowOfRank

# Events of a run of which all points are taken. A point has four events or more.
_MOST_EVENTS = 200_000


@dataclass
class Sides:
    """One machine's steps at a point: `before`, the last that precedes it; `after`, the first that
    follows it."""

    before: int | None = None
    after: int | None = None


# Of two machines their sides of one point.
Pair = tuple[Sides, Sides]
_Key = tuple


def bounds_between(pairs: Sequence[Pair], map_other: Callable[[int], int]) -> list[Bound]:
    """Of the offset from the clock of the first of two machines to the mapped one of the second."""
    bounds = []
    for own, other in pairs:
        if own.before is not None and other.after is not None:
            bounds.append(Bound(own.before, map_other(other.after) - own.before, upper=True))
        if own.after is not None and other.before is not None:
            bounds.append(Bound(own.after, map_other(other.before) - own.after, upper=False))
    return bounds


def points_by_machines(records: Sequence[Record]) -> dict[tuple[str, str], list[Pair]]:
    """By the boots of two machines, in both orders. A point of many machines compares each with the
    first alone, because their pairs would be too many."""
    points: dict[_Key, dict[str, Sides]] = defaultdict(dict)
    machines = {record.rank: record.boot for record in records if record.rank >= 0}
    stride = 1 + sum(record.events for record in records) // _MOST_EVENTS
    common: dict[WindowKey, bool] = {}  # to several machines
    for record in records:
        for window in record.windows.values():
            if window.key not in common:
                common[window.key] = len({machines.get(rank) for rank in window.ranks}) > 1
        _PointsOfRecord(record, machines, common, stride, points).read()
    found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for sides in points.values():
        (first, its), *others = sides.items()
        for other, others_sides in others:
            found[first, other].append((its, others_sides))
            found[other, first].append((others_sides, its))
    return found


class _PointsOfRecord:
    """Adds the steps of one record to the points of its run."""

    def __init__(
        self,
        record: Record,
        machines: Mapping[int, str],
        common: Mapping[WindowKey, bool],
        stride: int,
        points: dict[_Key, dict[str, Sides]],
    ) -> None:
        self._record = record
        self._machines = machines
        self._stride = stride
        self._points = points
        self._windows = {
            number: window for number, window in record.windows.items() if common[window.key]
        }
        # Whether this rank is in a fence that it has entered, or behind it.
        self._fences: dict[_Key, bool] = {}
        # When exposure epochs under way were activated, by window and number.
        self._activated: dict[tuple[int, int], int] = {}
        self._makings: dict[int, int] = {}  # the wait in each
        self._notifications: Counter[_Key] = Counter()

    def read(self) -> None:
        if self._windows:
            for step in self._record.entries(_KINDS):
                add = _RULES.get((step.kind, step.detail))
                window = self._windows.get(step.window)
                if add and window:
                    add(self, window, step)

    def _elsewhere(self, rank: int | None) -> bool:
        return self._machines.get(rank, self._record.boot) != self._record.boot

    def _is_sampled(self, *numbers: int) -> bool:
        return sum(numbers) % self._stride == 0

    def _sides(self, key: _Key) -> Sides:
        return self._points[key].setdefault(self._record.boot, Sides())

    def _before(self, key: _Key, time: int) -> None:
        sides = self._sides(key)
        sides.before = time if sides.before is None else max(sides.before, time)

    def _after(self, key: _Key, time: int) -> None:
        sides = self._sides(key)
        sides.after = time if sides.after is None else min(sides.after, time)

    def _fence(self, window: WindowOfRank, step: Entry) -> None:
        """An epoch that a call has opened, and no fence has closed, bears that call's number at its
        end as well."""
        if not self._is_sampled(window.key[1], step.number):
            return
        key = "fence", window.key, step.number
        if step.kind == "opened":
            self._fences.setdefault(key, False)
        elif step.kind in FENCE_ENTRIES and key not in self._fences:
            self._fences[key] = True
            self._before(key, step.time)
        elif step.kind in COMPLETE and self._fences.get(key):
            self._fences[key] = False
            self._after(key, step.time)

    def _access(self, window: WindowOfRank, step: Entry) -> _Key | None:
        """The same at origin and target. None: they are on one machine, or it is not sampled."""
        if not self._elsewhere(window.world_rank(step.rank)):
            return None
        origin, target = window.rank, step.rank
        if step.detail == "exposure":
            origin, target = target, origin
        sampled = self._is_sampled(origin, target, step.id)
        return (window.key, origin, target, step.id) if sampled else None

    def _exposed(self, _: WindowOfRank, step: Entry) -> None:
        self._activated[step.window, step.number] = step.time

    def _exposure_over(self, _: WindowOfRank, step: Entry) -> None:
        self._activated.pop((step.window, step.number), None)

    def _granted(self, window: WindowOfRank, step: Entry) -> None:
        """Perhaps when the epoch is over."""
        access = self._access(window, step)
        if access:
            self._after(("post", *access), step.time)

    def _told(self, window: WindowOfRank, step: Entry) -> None:
        access = self._access(window, step)
        if access is None:
            return
        if step.detail == "access":
            self._before(("done", *access), step.time)
            return
        activated = self._activated.get((step.window, step.number))
        if activated is not None:  # else before the record begins
            self._before(("post", *access), activated)
            self._after(("done", *access), step.time)

    def _making_begun(self, window: WindowOfRank, step: Entry) -> None:
        """A call may meet the others several times: at the first one none goes on alone."""
        site = self._record.sites.get(step.id)
        known = step.window in self._makings or not self._is_sampled(window.key[1])
        if not known and site and site.call in MAKING:
            self._makings[step.window] = step.number
            self._before(("making", window.key), step.time)

    def _making_over(self, window: WindowOfRank, step: Entry) -> None:
        if self._makings.get(step.window) == step.number:
            self._after(("making", window.key), step.time)

    def _notification(self, window: WindowOfRank, step: Entry) -> None:
        """Before an origin's n-th one of a tag is matched, n have been sent, in whatever order."""
        if not self._elsewhere(window.world_rank(step.rank)):
            return
        sent = step.kind == "notification_sent"
        ranks = (window.rank, step.rank) if sent else (step.rank, window.rank)
        channel = "notification", window.key, *ranks, step.id
        self._notifications[channel] += 1
        number = self._notifications[channel]
        if self._is_sampled(*ranks, number):
            add = self._before if sent else self._after
            add((*channel, number), step.time)


_RULES: dict[tuple[str, str], Callable[[_PointsOfRecord, WindowOfRank, Entry], None]] = {
    **{(kind, "fence"): _PointsOfRecord._fence for kind in ("opened", *FENCE_ENTRIES, *COMPLETE)},
    ("activated", "exposure"): _PointsOfRecord._exposed,
    ("granted", "access"): _PointsOfRecord._granted,
    ("told", "access"): _PointsOfRecord._told,
    ("told", "exposure"): _PointsOfRecord._told,
    ("completed", "exposure"): _PointsOfRecord._exposure_over,
    ("wait_begun", "window"): _PointsOfRecord._making_begun,
    ("wait_ended", "window"): _PointsOfRecord._making_over,
    ("notification_sent", "tag"): _PointsOfRecord._notification,
    ("notification_matched", "tag"): _PointsOfRecord._notification,
}
_KINDS = tuple({kind for kind, _ in _RULES})
