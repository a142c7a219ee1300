# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: rows by wait state, call site, window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from oriel.wait_states.aligned_records import Machine
from oriel.wait_states.attribution import wait_states
from oriel.wait_states.empty_epochs import empty_epochs
from oriel.wait_states.epoch_spans import ShownEpoch, epochs_of
from oriel.wait_states.longest import Longest
from oriel.wait_states.rank_history import Wait
from oriel.wait_states.record import Record, Site, WindowOfRank
from oriel.wait_states.recorded_activity import Activity
from oriel.wait_states.recorded_run import Run
from oriel.wait_states.remedies import own_remedy, savings
from oriel.wait_states.source_lines import Caller, callers_of, changed_since, in_words
from oriel.wait_states.wait_state import PATTERNS, WaitState


@dataclass
class Row:
    """Wait states of one kind at one place, on one window or on all windows that the program has
    given no name. Seconds, of all ranks together; `share`: of the ranks' time between their first
    window and the end; `hidden`, `avoidable`, `deferred` (by its info key): see Saving."""

    pattern: str
    call: str
    place: str
    window: str
    seconds: float = 0.0
    count: int = 0
    share: float = 0.0
    hidden: float = 0.0
    avoidable: float | None = None
    deferred: dict[str, float] = field(default_factory=dict)
    remedy: str | None = None
    their_remedy: str | None = None
    # Seconds, by the rank that waited; a process without MPI_COMM_WORLD is `process PID`.
    waited: dict[str, float] = field(default_factory=dict)
    late: dict[int, float] = field(default_factory=dict)  # by the rank that was late

    @property
    def latest(self) -> int | None:
        """The rank for which the others waited longest."""
        return max(self.late, key=self.late.__getitem__, default=None)


@dataclass
class EmptyRow:
    """EmptyEpochs with their place in the program; window and share as of a Row."""

    call: str
    place: str
    window: str
    seconds: float = 0.0
    share: float = 0.0
    ended: int = 0
    empty: int = 0
    doubled: int = 0


class ShownState(NamedTuple):
    """A wait state that timelines show, and the row that it belongs to."""

    state: WaitState
    row: Row


@dataclass
class Report:
    """`ranks`: of MPI_COMM_WORLD; `processes`: PIDs of those without it; `killed`: whose record has
    no end; `lost`: events that were not recorded; `host_seconds`: of all processes that ended MPI
    together, in messages and collectives, which Oriel leaves to the MPI library; `host_share`: of
    their time; `unread`: by file name a sentence on each record that could not be read; `changed`:
    files of the program that are younger than the records; `exact`: operations were recorded, else
    less may be avoidable than a Row says; `shown`, `epochs`, `activity`: what timelines show: the
    longest wait states and epochs, and more; `callers`: of each call site."""

    ranks: int
    processes: list[int]
    seconds: float
    rows: list[Row]
    empty_epochs: list[EmptyRow]
    killed: list[int]
    killed_processes: list[int]
    lost: int
    host_seconds: float
    host_share: float
    hosts: list[str]
    machines: list[Machine]
    missing: list[int]
    unread: dict[str, str]
    changed: list[str]
    exact: bool
    shown: Longest[ShownState]
    epochs: Longest[ShownEpoch]
    activity: Activity
    callers: dict[Site, tuple[Caller, ...]]


def make_report(run: Run) -> Report:
    records = [history.record for history in run.histories]
    sites = {site for record in records for site in record.sites.values()}
    callers = callers_of(sites)
    places = {site: in_words(its) for site, its in callers.items()}
    spans = [max(history.ended - history.record.begun, 0) for history in run.histories]
    spent = sum(spans)
    rows, shown = _rows(run, places)
    empty = _empty_rows(run, places)
    for row in [*rows, *empty]:
        row.share = row.seconds * 1e9 / spent if spent else 0.0
    ranks = max([record.ranks for record in records if record.rank >= 0], default=0)
    present = {record.rank for record in records}
    killed = [record for record in records if not record.ended]
    ended = [record for record in records if record.ended]
    lifetimes = sum(record.ended - record.begun for record in ended)
    in_host = sum(record.in_host for record in ended)
    return Report(
        ranks=ranks,
        processes=_processes(records),
        seconds=max(spans, default=0) / 1e9,
        rows=rows,
        empty_epochs=empty,
        killed=sorted({record.rank for record in killed if record.rank >= 0}),
        killed_processes=_processes(killed),
        lost=sum(record.lost for record in records),
        host_seconds=in_host / 1e9,
        host_share=in_host / lifetimes if lifetimes else 0.0,
        hosts=sorted({record.host for record in records}),
        machines=run.machines,
        missing=[
            rank
            for rank in range(ranks)
            if rank not in present and f"rank-{rank}.record" not in run.unread
        ],
        unread=run.unread,
        changed=changed_since(sites, max(record.written for record in records)),
        exact=run.with_operations,
        shown=shown,
        epochs=_longest_epochs(run),
        activity=Activity(run),
        callers=callers,
    )


def _rows(run: Run, places: dict[Site, str]) -> tuple[list[Row], Longest[ShownState]]:
    """Those with the most time lost first. Sites and windows are looked up by their identity: a run
    can have millions of wait states."""
    rows: dict[tuple, Row] = {}
    known: dict[tuple, Row] = {}
    last_wait: dict[int, Wait] = {}
    unnamed = _Unnamed()
    shown: Longest[ShownState] = Longest()
    for state, saving in savings(run, wait_states(run)):
        site, window, lost = state.wait.site, state.window, state.lost / 1e9
        identity = state.pattern, id(site), id(window)
        row = known.get(identity)
        if row is None:
            call = site.call if site else ""
            place = places.get(site, "") if site else ""
            key = (state.pattern, call, place, unnamed.given(window))
            row = known[identity] = rows.setdefault(key, Row(*key))
            row.remedy = own_remedy(call)
            row.their_remedy = PATTERNS[state.pattern].their_remedy
            unnamed.add(row, window)
        if last_wait.get(id(row)) is not state.wait:  # of which it may have several parts
            last_wait[id(row)] = state.wait
            row.count += 1
        row.seconds += lost
        row.hidden += saving.hidden / 1e9
        if saving.avoidable is not None:
            row.avoidable = (row.avoidable or 0.0) + saving.avoidable / 1e9
        if saving.deferred is not None:
            seconds, key = saving.deferred[0] / 1e9, saving.deferred[1]
            row.deferred[key] = row.deferred.get(key, 0.0) + seconds
        record = state.history.record
        who = str(record.rank) if record.rank >= 0 else record.name
        row.waited[who] = row.waited.get(who, 0.0) + lost
        if state.late is not None:
            row.late[state.late] = row.late.get(state.late, 0.0) + lost
        shown.add(state.lost, ShownState(state, row))
    unnamed.name()
    return sorted(rows.values(), key=lambda row: -row.seconds), shown


def _longest_epochs(run: Run) -> Longest[ShownEpoch]:
    epochs: Longest[ShownEpoch] = Longest()
    for history in run.histories:
        for epoch in epochs_of(history):
            epochs.add(epoch.length, epoch.without_steps())
    return epochs


def _empty_rows(run: Run, places: dict[Site, str]) -> list[EmptyRow]:
    rows: dict[tuple, EmptyRow] = {}
    unnamed = _Unnamed()
    for each in empty_epochs(run):
        key = (each.call, places.get(each.site, ""), unnamed.given(each.window))
        row = rows.setdefault(key, EmptyRow(*key))
        unnamed.add(row, each.window)
        row.seconds += each.lost / 1e9
        row.ended += each.ended
        row.empty += each.empty
        row.doubled += each.doubled
    unnamed.name()
    return sorted(rows.values(), key=lambda row: -row.seconds)


class _Unnamed:
    """A program may make a window for each step, and name none: these have a row together."""

    def __init__(self) -> None:
        self._windows: dict[int, tuple[Row | EmptyRow, set[str]]] = {}

    @staticmethod
    def given(window: WindowOfRank | None) -> str:
        """The name that the program has given it, or empty."""
        return window.name if window and window.named else ""

    def add(self, row: Row | EmptyRow, window: WindowOfRank | None) -> None:
        if window and not window.named:
            self._windows.setdefault(id(row), (row, set()))[1].add(window.name)

    def name(self) -> None:
        """Names the windows of each row."""
        for row, names in self._windows.values():
            one = len(names) == 1
            row.window = next(iter(names)) if one else f"{len(names):,} without a name"


def _processes(records: list[Record]) -> list[int]:
    """Their PIDs, where there is no MPI_COMM_WORLD."""
    return [pid for other, pid, _ in sorted({record.process for record in records}) if other]


def window_name(window: WindowOfRank | None) -> str:
    """Empty: no window in particular."""
    return window.name if window else ""
