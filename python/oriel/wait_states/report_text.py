# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run in words: the table, and sentences on the run and on each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oriel.wait_states.aligned_records import Machine, most_error
from oriel.wait_states.run_report import EmptyRow, Report, Row
from oriel.wait_states.wait_state import PATTERNS

# Of the run: a wait that takes less is shown when it is asked for.
LEAST_SHARE = 0.01
_NO_LONG_WAIT = f"  No wait took {100 * LEAST_SHARE:.0f} % of the run."
# To the rank that waits in a call with a nonblocking form.
_OWN_SENTENCE = (
    "{remedy} returns at once; up to {percent:.0f} % of the wait would be covered, as far as what "
    "the rank does next does not use the epoch's data."
)
# Per cent of a wait that another call would spare.
_WORTH_CHANGING = 5


def ran(report: Report) -> str:
    """Who ran, how long, and where."""
    who = [_count(report.ranks, "rank")] if report.ranks else []
    if report.processes:
        who.append(f"{_count(len(report.processes), 'process')} without MPI_COMM_WORLD")
    return f"{' and '.join(who)} in {report.seconds:.3f} s ({', '.join(report.hosts)})"


def notes(report: Report) -> list[str]:
    """What the records lack, and how much time they do not explain, in sentences."""
    found = [f"{sentence} It is left out." for sentence in report.unread.values()]
    if len(report.missing) == 1:
        found.append(
            f"Rank {report.missing[0]} has left no record: it made no window, or could not write "
            "to the folder."
        )
    elif report.missing:
        found.append(
            f"Ranks {_listed(report.missing)} have left no record: they made no window, or could "
            "not write to the folder."
        )
    for kind, plural, killed in (
        ("Rank", "Ranks", report.killed),
        ("Process", "Processes", report.killed_processes),
    ):
        if len(killed) == 1:
            found.append(f"{kind} {killed[0]} did not end MPI: its record stops early.")
        elif killed:
            found.append(f"{plural} {_listed(killed)} did not end MPI: their records stop early.")
    found += clock_notes(report.machines)
    if report.changed:
        found.append(
            f"{' and '.join(report.changed)} {'have' if len(report.changed) > 1 else 'has'} "
            "changed since the run, so functions and lines may be wrong. Run again to get them "
            "right."
        )
    if report.host_share >= LEAST_SHARE:
        found.append(
            f"{100 * report.host_share:.1f} % of the ranks' time ({report.host_seconds:.3f} s) was "
            "in messages and collectives, which Oriel leaves to the MPI library."
        )
    if report.lost:
        found.append(
            f"The disk of the report's folder was full: {_count(report.lost, 'event')} at the end "
            "of the run are not recorded. Free space there, and run again."
        )
    return found


def clock_notes(machines: list[Machine]) -> Iterator[str]:
    """How well times of several machines can be compared."""
    by_clock: dict[str, list[Machine]] = {}
    for machine in machines:
        by_clock.setdefault(machine.timed_by, []).append(machine)
    if len(by_clock) < len(machines):
        yield (
            f"The clocks of {len(machines) - len(by_clock) + 1} machines are aligned to within "
            f"{_time(most_error(machines) / 1e9)}. Ranks of another machine that were late by less "
            "are named for Late Post, Late Complete, Wait for Notification and Wait for Queue "
            "Space only, which the record of the rank that waited tells."
        )
    if len(by_clock) > 1:
        hosts = ("+".join(host for each in its for host in each.hosts) for its in by_clock.values())
        yield (
            f"Nothing compares the clocks of {_listed(list(hosts))}: late ranks and arrows are "
            "found within each of these only."
        )


def table(report: Report, least_share: float = LEAST_SHARE) -> str:
    """Plain text: `oriel run` needs no package besides Python's own."""
    shown = [row for row in report.rows if row.share >= least_share]
    text = [f"oriel: waits of {ran(report)}"]
    text += [f"  {note}" for note in notes(report)]
    if shown:
        text += _aligned(shown)
    else:
        text.append("  No call waited." if not report.rows else _NO_LONG_WAIT)
    for row in shown:
        if row.share >= LEAST_SHARE:
            lines = advice(report, row)
            text += ["", *lines] if lines else []
    for empty in report.empty_epochs:
        if empty.share >= least_share:
            text += ["", *on_empty(empty)]
    return "\n".join([*text, ""])


def _aligned(rows: list[Row]) -> list[str]:
    cells = [("wait state", "seconds", "share", "times", "late rank", "in")]
    for row in rows:
        late = late_ranks(row)
        share = f"{100 * row.share:.1f} %"
        seconds = f"{row.seconds:.3f}"
        cells.append((row.pattern, seconds, share, f"{row.count:,}", late, _where(row)))
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for first, *middle, last in cells:
        columns = [first.ljust(widths[0])]
        columns += [cell.rjust(width) for cell, width in zip(middle, widths[1:])]
        lines.append("  " + "  ".join([*columns, last]))
    return lines


def late_ranks(row: Row) -> str:
    """The one that was waited for longest first."""
    return _listed(sorted(row.late, key=lambda rank: -row.late[rank]), 3)


# Why a call that ends an epoch which moved nothing may be needed all the same.
_NEEDED = {
    "MPI_Win_fence": "Such a fence is needed only to keep a rank's loads and stores of the "
    "window's memory apart from the operations of other ranks",
    "MPI_Win_complete": "Such an epoch is needed only to tell the target how far the origin is",
    "MPI_Win_wait": "Such an epoch is needed only to learn how far the origins are",
}


def on_empty(row: EmptyRow) -> list[str]:
    """How many epochs moved nothing, and when they are needed all the same."""
    lines = [
        f"{_where(row)}: {row.empty:,} of {_count(row.ended, 'epoch')} moved nothing; the ranks "
        f"waited {row.seconds:.3f} s in the calls that ended these.",
        f"  {_NEEDED[row.call]}.",
    ]
    if row.doubled:
        lines.append(
            f"  Fences between two such epochs: {row.doubled:,}. These keep no operations apart "
            "and are barriers at most."
        )
    return lines


def _where(row: Row | EmptyRow) -> str:
    where = row.call + (f", {row.place}" if row.place else "")
    return where + (f', window "{row.window}"' if row.window else "")


def advice(report: Report, row: Row) -> list[str]:
    """What would have spared the wait, in sentences; empty: nothing that is known."""
    mean = row.seconds / row.count
    for_whom = f" for rank {row.latest}" if row.latest is not None else ""
    lines = [f"{row.call or 'A call'} waited {_time(mean)} each time{for_whom} ({row.pattern})."]
    pattern = PATTERNS[row.pattern]
    own = pattern.own_sentence or (row.remedy and _OWN_SENTENCE)
    if own and (percent := 100 * row.hidden / row.seconds) >= _WORTH_CHANGING:
        lines.append("  " + own.format(remedy=row.remedy, call=row.call, percent=percent))
    if row.their_remedy and row.latest is not None:
        line = f"  Rank {row.latest}: {row.their_remedy}."
        if pattern.at_any_time:
            lines.append(
                f"{line} That would have spared the wait, unless the rank was in a call of Oriel's."
            )
        elif row.avoidable is None:
            lines.append(line)
        elif (percent := 100 * row.avoidable / row.seconds) >= _WORTH_CHANGING:
            event = "call" if report.exact else "recorded event"
            lines.append(
                f"{line} At most {percent:.0f} % of the wait would have been spared: the time "
                f"since the rank's last {event} on the window."
            )
    for key, seconds in row.deferred.items():
        if (percent := 100 * seconds / row.seconds) >= _WORTH_CHANGING:
            who = f"Rank {row.latest}" if len(row.late) == 1 else "A late rank"
            lines.append(
                f"  {who} had called in time, but its epoch was deferred behind an earlier epoch "
                f"of that rank for {percent:.0f} % of the wait. With the info key {key} on the "
                "window it may overtake that epoch: a promise that the two use no common data."
            )
    return lines if len(lines) > 1 else []


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:  # which is shown with three digits
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what}es" if what.endswith("s") else f"{number:,} {what}s"


def _listed(ranks: Sequence[int | str], most: int = 8) -> str:
    if len(ranks) <= most + 1:  # "and 1 others" is no shorter
        return ", ".join(map(str, ranks))
    return f"{', '.join(map(str, ranks[:most]))} and {len(ranks) - most} others"
