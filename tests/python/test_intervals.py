# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals of medians."""

from __future__ import annotations

import random

import pytest
from oriel.bench.intervals import median_interval


@pytest.mark.parametrize(
    ("count", "confidence", "k"),
    [
        # Of tables of the sign test: 2 P(B < k) is at most 1 - confidence.
        (8, 0.99, 1),  # 2 / 2^8 = 0.0078
        (10, 0.99, 1),  # 22 / 2^10 = 0.021 would be for k = 2
        (11, 0.99, 1),
        (12, 0.99, 2),  # 26 / 2^12 = 0.0063
        (25, 0.99, 6),
        (1000, 0.99, 459),
        (10, 0.95, 2),
        (6, 0.95, 1),
    ],
)
def test_the_interval_is_between_two_order_statistics(count, confidence, k):
    values = list(range(1, count + 1))
    random.Random(1).shuffle(values)
    assert median_interval(values, confidence) == (k, count + 1 - k)


@pytest.mark.parametrize(("count", "confidence"), [(0, 0.99), (1, 0.99), (7, 0.99), (5, 0.95)])
def test_too_few_values_have_no_interval(count, confidence):
    assert median_interval(range(count), confidence) is None


def test_the_interval_covers_the_median_as_often_as_it_says():
    """Of a skewed distribution, whose median is ln 2: the rule assumes no shape."""
    chance = random.Random(2)
    covered = 0
    for _ in range(4000):
        low, high = median_interval(chance.expovariate(1) for _ in range(12))
        covered += low <= 0.6931 <= high
    assert covered / 4000 == pytest.approx(0.9937, abs=0.005)
