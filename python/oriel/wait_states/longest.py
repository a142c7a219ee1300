# SPDX-License-Identifier: BSD-3-Clause
"""Of millions the longest, which are what a timeline can show."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class Longest(Generic[_Item]):
    """At most MOST of the items that it is given; of equally long ones the first."""

    # A browser opens larger timelines slowly.
    MOST = 200_000

    def __init__(self) -> None:
        self._kept: list[tuple[int, int, _Item]] = []
        self._order = count(0, -1)
        self.left_out = 0

    def add(self, length: int, item: _Item) -> None:
        if len(self._kept) < self.MOST:
            heapq.heappush(self._kept, (length, next(self._order), item))
            return
        self.left_out += 1
        if length > self._kept[0][0]:
            heapq.heapreplace(self._kept, (length, next(self._order), item))

    def __iter__(self) -> Iterator[_Item]:
        return (item for _, _, item in self._kept)
