# SPDX-License-Identifier: BSD-3-Clause
"""Where things are drawn that overlap in time."""

from __future__ import annotations


class Lanes:
    """Things in one lane do not overlap, but for the last lane if there are at most so many."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._ends: list[int] = []  # of the last thing in each lane

    def take(self, begun: int, ended: int) -> int:
        """The first lane that is free when a thing begins. They come in the order of time."""
        lane = next((at for at, end in enumerate(self._ends) if end <= begun), len(self._ends))
        if self._most is not None:
            lane = min(lane, self._most - 1)
        if lane == len(self._ends):
            self._ends.append(ended)
        self._ends[lane] = max(self._ends[lane], ended)
        return lane
