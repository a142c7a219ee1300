# SPDX-License-Identifier: BSD-3-Clause
"""The clock of a machine, mapped to that of another one, from bounds of the offset between them.

Offset and rate are a line between all bounds. Clocks are adjusted while a program runs, so over a
long run no line may fit. Then several do, each for as long a part of the run as it can.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Between two clocks: NTP changes the rate of each by at most 500 ppm, and crystals differ by less
# than 100.
_MOST_RATE = 0.0011
# Nanoseconds by which sums of floating-point numbers may be wrong.
_ROUNDING = 1.0


class Bound(NamedTuple):
    """At `time` of the clock that is mapped, the offset to the other one is at most `offset`
    (`upper`), or at least. Nanoseconds."""

    time: int
    offset: int
    upper: bool


class Knot(NamedTuple):
    """At `time` the offset is `offset`, but for `error`."""

    time: int
    offset: float
    error: float


class MachineClock:
    """Between two knots the offset changes at an even rate. A later time is never mapped to an
    earlier one."""

    def __init__(self, knots: Sequence[Knot], bounds: Sequence[Bound]) -> None:
        self._times = [knot.time for knot in knots]
        self._offsets = [round(knot.offset) for knot in knots]
        self._rates = [
            (after - before) / (until - since)
            for before, after, since, until in zip(
                self._offsets, self._offsets[1:], self._times, self._times[1:]
            )
        ] or [0.0]
        # Where several lines meet, or bounds contradict one another, the clock may be beyond one.
        errors = [knot.error for knot in knots]
        self.error = max([*errors, *map(self._beyond, bounds)])  # nanoseconds

    def map(self, time: int) -> int:
        at = min(max(bisect_right(self._times, time) - 1, 0), len(self._rates) - 1)
        return time + self._offsets[at] + int((time - self._times[at]) * self._rates[at])

    def _beyond(self, bound: Bound) -> int:
        beyond = self.map(bound.time) - bound.time - bound.offset
        return beyond if bound.upper else -beyond

    @property
    def offset(self) -> int:
        """At the first knot."""
        return self._offsets[0]

    @property
    def rate(self) -> float:
        """From the first knot to the last."""
        length = self._times[-1] - self._times[0]
        return (self._offsets[-1] - self._offsets[0]) / length if length else 0.0


def fit(bounds: list[Bound], begun: int, ended: int) -> MachineClock | None:
    """`begun`, `ended`: of the run, by the clock that is mapped. None: all bounds are upper
    ones, or all are lower ones."""
    bounds = sorted(bounds)
    if bounds:  # of a rank that was killed there is no end
        begun, ended = min(begun, bounds[0].time), max(ended, bounds[-1].time)
    knots: list[Knot] = []
    first = 0
    since = begun
    while first < len(bounds):
        last = _longest(bounds, first)
        until = ended if last == len(bounds) else bounds[last].time
        for knot in _Corridor(bounds[first:last]).ends(since, until):
            _join(knots, knot)
        first, since = last, until
    return MachineClock(knots, bounds) if knots else None


def _longest(bounds: list[Bound], first: int) -> int:
    """How far one line fits. The length is doubled before it is bisected, because there may be many
    parts."""
    step = 1
    while first + step < len(bounds) and _Corridor(bounds[first : first + 2 * step]).open:
        step *= 2
    fits, fails = first + step, min(first + 2 * step, len(bounds))
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if _Corridor(bounds[first:middle]).open:
            fits = middle
        else:
            fails = middle
    return min(fits, len(bounds))


def _join(knots: list[Knot], knot: Knot) -> None:
    """Where two lines meet, each is right to within its error, so their mean is right to within the
    mean error."""
    if knots and knots[-1].time == knot.time:
        before = knots.pop()
        knot = Knot(knot.time, (before.offset + knot.offset) / 2, (before.error + knot.error) / 2)
    if knots:  # bounds that contradict one another could turn time back
        least = knots[-1].offset - (knot.time - knots[-1].time)
        knot = knot._replace(offset=max(knot.offset, least))
    knots.append(knot)


class _Corridor:
    """The lines between some bounds. Of the upper bounds only those of their lower hull count, and
    of the lower ones those of their upper hull."""

    def __init__(self, bounds: list[Bound]) -> None:
        self._base = bounds[0]
        points = [
            (float(time - self._base.time), float(offset - self._base.offset), upper)
            for time, offset, upper in bounds
        ]
        self._upper = _lower_hull([(time, offset) for time, offset, upper in points if upper])
        negated = _lower_hull([(time, -offset) for time, offset, upper in points if not upper])
        self._lower = [(time, -offset) for time, offset in negated]
        self._steepest = _steepest(self._upper, self._lower)
        shallowest = _steepest(_mirrored(self._upper), _mirrored(self._lower))
        self._shallowest = None if shallowest is None else -shallowest

    @property
    def open(self) -> bool:
        return self._steepest is not None and self._shallowest is not None

    def ends(self, since: int, until: int) -> Iterator[Knot]:
        """The middle of the corridor at its two ends, where it is widest. Nothing if only one side
        is bounded."""
        if not self._upper or not self._lower:
            return
        for time, highest, lowest in (
            (since, self._shallowest, self._steepest),
            (until, self._steepest, self._shallowest),
        ):
            at = float(time - self._base.time)
            high = min(offset + highest * (at - its) for its, offset in self._upper)
            low = max(offset + lowest * (at - its) for its, offset in self._lower)
            middle = self._base.offset + (high + low) / 2
            yield Knot(time, middle, abs(high - low) / 2 + _ROUNDING)


_Points = list[tuple[float, float]]


def _mirrored(points: _Points) -> _Points:
    return [(-time, offset) for time, offset in points]


def _lower_hull(points: _Points) -> _Points:
    """`points`: in the order of time."""
    hull: _Points = []
    for point in points:
        if hull and hull[-1][0] == point[0] and hull[-1][1] <= point[1]:
            continue
        while hull and (hull[-1][0] == point[0] or not _turns_left(hull[-2:], point)):
            hull.pop()
        hull.append(point)
    return hull


def _turns_left(ends: _Points, point: tuple[float, float]) -> bool:
    if len(ends) < 2:
        return True
    (first_time, first), (time, offset) = ends
    return (offset - first) * (point[0] - first_time) < (point[1] - first) * (time - first_time)


def _steepest(upper: _Points, lower: _Points) -> float | None:
    """The greatest rate of a line between both; None: no line fits. The gap between them at a rate
    is a concave function of the rate that is made of lines, so Newton's method ends at its root."""
    rate = _MOST_RATE
    while upper and lower:
        high_time, high = min(upper, key=lambda point: point[1] - rate * point[0])
        low_time, low = max(lower, key=lambda point: point[1] - rate * point[0])
        length = high_time - low_time
        if high - low - rate * length >= -_ROUNDING:
            break
        if length <= 0 or (high - low) / length < -_MOST_RATE:
            return None
        rate = (high - low) / length
    return rate
