# SPDX-License-Identifier: BSD-3-Clause
"""What ranks wait for and do, as a table, and those that wait for one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oriel.top.call_rates import CallRates
from oriel.top.node_ranks import Rank
from oriel.wait_states.record import printable

# Of a wait for these reasons.
_WAITS = {
    "lock": "waits for a lock",
    "unlock": "waits in an unlock",
    "fence": "waits in a fence",
    "complete": "waits in MPI_Win_complete",
    "exposure": "waits in MPI_Win_wait",
    "flush": "waits in a flush",
    "notification": "waits for a notification",
    "request": "waits for a request",
    "collective": "waits in a persistent collective",
    "window": "waits in a collective call on a window",
}
# Of a process that shows no wait, by the letter of its state.
_STATES = {
    "R": "runs",
    "T": "is stopped",
    "t": "is stopped",
    "D": "waits for the system",
    "S": "sleeps elsewhere",
}
_STOPPED = "tT"
_HEAD = ("rank", "pid", "state", "seconds", "cpu", "calls/s", "for", "window")
_NUMBERS = ("rank", "pid", "seconds", "cpu", "calls/s")


def table(ranks: list[Rank], now: int, call_rates: CallRates) -> list[str]:
    """`now`: nanoseconds of the monotonic clock."""
    names = {rank.block.id: rank.name for rank in ranks}
    cells = [_HEAD, *(_cells(rank, names, now, call_rates) for rank in ranks)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for row in cells:
        padded = (
            cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
            for name, cell, width in zip(_HEAD, row, widths)
        )
        lines.append("  ".join(padded).rstrip())
    return lines


def _cells(rank: Rank, names: dict[int, str], now: int, call_rates: CallRates) -> tuple[str, ...]:
    block = rank.block
    number = str(block.rank) if block.rank >= 0 else "-"
    rates = call_rates.rates(rank)
    work = (f"{rates.processor:.0%}", f"{rates.calls:,.0f}") if rates else ("", "")
    wait = block.wait
    if wait is None or rank.state in _STOPPED:
        quiet = f"{rates.quiet / 1e9:.1f}" if rates and rates.quiet else ""
        return number, str(rank.pid), _STATES.get(rank.state, ""), quiet, *work, "", ""
    awaited = ", ".join(names[each] for each in wait.awaited if each in names)
    if awaited and not wait.certain:
        awaited += " ?"
    seconds = f"{max(now - wait.since, 0) / 1e9:.1f}"
    window = printable(wait.window)
    return number, str(rank.pid), _WAITS[wait.reason], seconds, *work, awaited, window


def circle_line(circle: list[Rank]) -> str:
    if len(circle) == 1:
        return f"{circle[0].name} waits for itself."
    names = ", ".join(rank.name for rank in circle[:-1])
    return (
        "These wait for one another, so that none can go on, unless another thread of theirs ends "
        f"it: {names} and {circle[-1].name}."
    )


def circles(ranks: Iterable[Rank]) -> list[list[Rank]]:
    """Ranks each of which waits for the next, and the last for the first. A wait is for all that it
    names, so none of them can go on."""
    by_id = {rank.block.id: rank for rank in ranks}
    found: list[list[Rank]] = []
    done: set[int] = set()

    def awaited(process: int) -> Iterator[int]:
        wait = by_id[process].block.wait
        return iter(wait.awaited if wait and wait.certain else ())

    for first in by_id:
        # The path to where the walk is: who waits for the next, and whom it waits for besides.
        path = {} if first in done else {first: awaited(first)}
        while path:
            process = next(reversed(path))
            following = next(path[process], None)
            if following is None:
                path.popitem()
                done.add(process)
            elif following in path:
                members = list(path)
                circle = members[members.index(following) :]
                found.append([by_id[each] for each in circle])
            elif following in by_id and following not in done:
                path[following] = awaited(following)
    return found
