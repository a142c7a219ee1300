# SPDX-License-Identifier: BSD-3-Clause
"""Entries of one record, read from the file where they are looked for. A record can be larger than
the memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter

from oriel.wait_states.record import STEP_KINDS, Entry, Record

# Entries that are read at once. Of each block that has steps, 16 bytes stay in memory.
_BLOCK = 512
# Blocks of a record that stay in memory: what is looked for lies near what was found before.
_MOST_BLOCKS = 4
_time = attrgetter("time")


class EntryBlocks:
    """Those of some kinds in the order of time, in which the process has recorded them."""

    def __init__(self, record: Record, kinds: tuple[str, ...] = STEP_KINDS) -> None:
        self._record = record
        self._kinds = kinds
        self._first_entries = array("Q")
        self._times = array("Q")  # of the first step in each block
        for first, time in record.first_of_each(_BLOCK, kinds):
            self._first_entries.append(first)
            self._times.append(time)
        self._block = lru_cache(_MOST_BLOCKS)(self._read)

    def __iter__(self) -> Iterator[Entry]:
        for block in range(len(self._times)):
            yield from self._block(block)[0]

    @property
    def last_time(self) -> int:
        """0: there are none."""
        return self._block(len(self._times) - 1)[1][-1] if self._times else 0

    def since(self, time: int) -> Iterator[Entry]:
        """From the first that is not before this time."""
        first = max(bisect_left(self._times, time) - 1, 0)
        for block in range(first, len(self._times)):
            steps, times = self._block(block)
            yield from steps[bisect_left(times, time) :] if block == first else steps

    def until(self, time: int) -> Iterator[Entry]:
        """Backwards from the last that is not after this time."""
        last = bisect_right(self._times, time) - 1
        for block in range(last, -1, -1):
            steps, times = self._block(block)
            yield from reversed(steps[: bisect_right(times, time)] if block == last else steps)

    def _read(self, block: int) -> tuple[list[Entry], list[int]]:
        first = self._first_entries[block]
        steps = list(self._record.entries(self._kinds, first, _BLOCK))
        return steps, list(map(_time, steps))
