# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals of medians, by order statistics."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Optional

CONFIDENCE = 0.99  # the papers'

Interval = Optional[tuple[float, float]]


def median_interval(values: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """From the k-th smallest to the k-th largest of these independent values. Each of n values is
    below the distribution's median with probability 1/2, whatever the distribution, so the interval
    misses the median with probability 2 P(B < k), where B is binomial (n, 1/2). k is the largest
    number for which this is at most 1 - confidence. None: there are too few values for any, with
    99 % fewer than 8."""
    ordered = sorted(values)
    count = len(ordered)
    k = 0
    missed = 0.0
    while True:
        missed += 2 * comb(count, k) / 2**count
        if missed > 1 - confidence:
            break
        k += 1
    return (ordered[k - 1], ordered[count - k]) if k else None
