# SPDX-License-Identifier: BSD-3-Clause
"""The fit of a clock to bounds of its offset: the truth is within what it says (B1)."""

from __future__ import annotations

import random

import pytest
from oriel.wait_states.machine_clock import Bound, fit

BEGUN = 30_000_000_000_000
HOUR = 3_600_000_000_000
OFFSET = -3_700_000_000_000


def bounds_of(true_offset, times, late, choose: random.Random) -> list[Bound]:
    """Messages of both directions; `late`: nanoseconds that they take at most."""
    found = []
    for time in times:
        upper = choose.random() < 0.5
        delay = round(choose.uniform(0, late))
        offset = round(true_offset(time))
        found.append(Bound(time, offset + delay if upper else offset - delay, upper))
    return found


def worst(clock, true_offset, begun: int, ended: int) -> float:
    """The largest error of the mapped times over the run."""
    times = [begun + (ended - begun) * part // 100 for part in range(101)]
    return max(abs(clock.map(time) - time - true_offset(time)) for time in times)


def check_the_truth(seed: int) -> int:
    """Of bounds at any time of a run. The number of bounds, 0: no clock fits them."""
    choose = random.Random(seed)
    length = round(10 ** choose.uniform(6, 12.6))
    rate = choose.uniform(-1e-3, 1e-3)
    ended = BEGUN + length
    times = [choose.randint(BEGUN, ended) for _ in range(choose.choice((2, 10, 1000)))]

    def truth(time):
        return OFFSET + rate * (time - BEGUN)

    bounds = bounds_of(truth, times, 10 ** choose.uniform(3, 7), choose)
    clock = fit(bounds, BEGUN, ended)
    if clock is None:
        assert len({bound.upper for bound in bounds}) == 1
        return 0
    error = worst(clock, truth, BEGUN, ended)
    assert error <= clock.error + 2
    # Bounds that fit a line tell more than those at one time: of that many the error is small.
    if len(times) == 1000:
        assert clock.error < max(bound.offset - truth(bound.time) for bound in bounds)
        assert clock.rate == pytest.approx(rate, abs=2 * clock.error / length + 1e-9)
    return len(times)


def test_the_truth_is_within_the_error():
    """Rates and delays of all sizes, few bounds and many."""
    assert {check_the_truth(seed) for seed in range(40)} == {0, 2, 10, 1000}


def test_the_error_is_half_of_the_gap():
    """Between parallel rows of bounds, as long as the run."""
    bounds = [
        Bound(BEGUN + 1_000_000 * turn, OFFSET + 40 * turn + (3_000 if upper else -1_000), upper)
        for turn in range(11)
        for upper in (True, False)
    ]
    clock = fit(bounds, BEGUN, BEGUN + 10_000_000)
    # A line may lean from the one row to the other.
    assert clock.error == pytest.approx(2_000, abs=2)
    assert clock.map(BEGUN) == BEGUN + OFFSET + 1_000
    assert clock.map(BEGUN + 10_000_000) == BEGUN + 10_000_000 + OFFSET + 400 + 1_000
    assert clock.rate == pytest.approx(40e-6)


@pytest.mark.parametrize("seed", range(10))
def test_a_clock_whose_rate_is_changed_is_fitted_by_parts(seed):
    """As NTP does: no line fits the whole hour, and one of several is enough for each change."""
    choose = random.Random(seed)
    changes = [0.0, 0.2, 0.55, 0.7]
    rates = [choose.uniform(-5e-5, 5e-5) for _ in changes]

    def truth(time):
        part, offset = (time - BEGUN) / HOUR, float(OFFSET)
        for since, until, rate in zip(changes, [*changes[1:], 1.0], rates):
            offset += HOUR * rate * max(min(part, until) - since, 0)
        return offset

    times = [choose.randint(BEGUN, BEGUN + HOUR) for _ in range(3_000)]
    clock = fit(bounds_of(truth, times, 100_000, choose), BEGUN, BEGUN + HOUR)
    assert worst(clock, truth, BEGUN, BEGUN + HOUR) < 300_000  # one line is wrong by 20 ms
    assert clock.error < 300_000


def test_bounds_of_one_side_tell_nothing():
    for upper in (True, False):
        assert fit([Bound(BEGUN + time, 5, upper) for time in range(9)], BEGUN, BEGUN + 9) is None
    assert fit([], BEGUN, BEGUN) is None


@pytest.mark.parametrize("seed", range(20))
def test_contradictions_do_not_turn_time_back(seed):
    """Bounds that no clock keeps; many at one time."""
    choose = random.Random(seed)
    bounds = [
        Bound(choose.randint(0, 50) * 1_000, choose.randint(-(10**6), 10**6), choose.random() < 0.5)
        for _ in range(200)
    ]
    clock = fit(bounds, 0, 50_000)
    assert clock
    mapped = [clock.map(time) for time in range(-1_000, 52_000, 7)]
    assert mapped == sorted(mapped)
    for time, offset, upper in bounds:  # no bound is broken by more than the error
        beyond = clock.map(time) - time - offset
        assert (beyond if upper else -beyond) <= clock.error


def test_a_run_of_no_length():
    clock = fit([Bound(7, 3, True), Bound(7, 1, False)], 7, 7)
    assert clock.map(7) == 9 and clock.rate == 0 and clock.error == pytest.approx(1, abs=2)
