# SPDX-License-Identifier: BSD-3-Clause
"""What ranks do between two looks at them: calls, processor time, and since when no call."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from oriel.top.node_ranks import Rank

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Rates(NamedTuple):
    """`processor`: the share of a processor that it has had, above 1 with several threads; `calls`:
    on windows, in a second; `quiet`: nanoseconds for which, at least, it has made no call on a
    window but on hot paths."""

    processor: float
    calls: float
    quiet: int


class _Look(NamedTuple):
    time: int
    ran: int
    calls: int
    locked: int
    quiet_since: int


class CallRates:
    def __init__(self) -> None:
        self._looks: dict[int, _Look] = {}  # by the id of the process
        self._rates: dict[int, Rates] = {}

    def look(self, ranks: Iterable[Rank], now: int) -> None:
        """`now`: nanoseconds of the monotonic clock."""
        before, self._looks, self._rates = self._looks, {}, {}
        for rank in ranks:
            counts = rank.block.calls
            last = before.get(rank.block.id)
            quiet_since = now
            if last and last.locked == counts.locked:
                quiet_since = last.quiet_since
            if counts.quiet_since:
                quiet_since = min(quiet_since, counts.quiet_since)
            this = _Look(now, rank.ran, counts.locked + counts.hot, counts.locked, quiet_since)
            self._looks[rank.block.id] = this
            if last and now > last.time:
                seconds = (now - last.time) / 1e9
                self._rates[rank.block.id] = Rates(
                    (this.ran - last.ran) / _TICKS_PER_SECOND / seconds,
                    (this.calls - last.calls) / seconds,
                    now - quiet_since,
                )

    def rates(self, rank: Rank) -> Rates | None:
        """At the last look; None: it was the first one at this rank."""
        return self._rates.get(rank.block.id)
