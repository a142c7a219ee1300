# SPDX-License-Identifier: BSD-3-Clause
"""An archive in the Open Trace Format 2, which Vampir, Scalasca and otf2-print read.

The package otf2 writes it: the format's own library with its binding for Python. It is imported
only where an archive is asked for.

A location for each rank. The calls that waited are regions; the epochs are records of RMA, by the
conventions of Score-P: a post and a start synchronize processes of a group, a wait and a complete
also memory; a fence is a collective; a lock is requested, acquired and released. Operations and
notifications are there if they were recorded.
"""

from __future__ import annotations

import heapq
import shutil
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path

import otf2  # isort: skip  # first: the command names the package that is missing
import _otf2
from otf2 import events

from oriel import __version__
from oriel.wait_states.epoch_spans import EpochSpan, epochs_of
from oriel.wait_states.lanes import Lanes
from oriel.wait_states.rank_history import History, Wait
from oriel.wait_states.record import (
    EXCLUSIVE,
    OPERATION_KINDS,
    RecordError,
    Site,
    WindowOfRank,
)
from oriel.wait_states.recorded_run import LOCKS, Run
from oriel.wait_states.report_text import clock_notes
from oriel.wait_states.run_report import Report
from oriel.wait_states.source_lines import in_words

_TICKS_A_SECOND = 10**9
_PROCESSES = otf2.RmaSyncLevel.PROCESS
_MEMORY_AND_PROCESSES = otf2.RmaSyncLevel.PROCESS | otf2.RmaSyncLevel.MEMORY
_time = attrgetter("time")
# Of a process: their events are sorted in memory.
_MOST = 200_000
# Of an operation that is atomic: its type, and how often its bytes travel to the target and back.
_ATOMICS = {
    "accumulate": (otf2.RmaAtomicType.ACCUMULATE, 1, 0),
    "get_accumulate": (otf2.RmaAtomicType.FETCH_AND_ACCUMULATE, 1, 1),
    "compare_and_swap": (otf2.RmaAtomicType.COMPARE_AND_SWAP, 2, 1),
}
_NOTIFICATIONS = {
    "notification_sent": otf2.RmaSyncType.NOTIFY_OUT,
    "notification_matched": otf2.RmaSyncType.NOTIFY_IN,
}


def write_archive(report: Report, run: Run, folder: Path) -> None:
    """Replaces the folder; its `traces.otf2` is what readers open."""
    if folder.exists():  # the library writes to new folders only
        shutil.rmtree(folder)
    try:
        with otf2.writer.open(str(folder), timer_resolution=_TICKS_A_SECOND) as writer:
            writer.creator = f"oriel {__version__}"
            limits = (
                f"Of each process at most the first {_MOST:,} waits, epochs, and operations with "
                "their notifications."
            )
            writer.description = " ".join([limits, *clock_notes(report.machines)])
            _Archive(report, run, writer).write()
    except _otf2.Error as error:
        raise RecordError(f"The OTF2 archive {folder} cannot be written: {error}.") from None


class _Archive:
    def __init__(self, report: Report, run: Run, writer: otf2.writer.Writer) -> None:
        self._run = run
        self._writer = writer
        self._definitions = writer.definitions
        self._callers = report.callers
        self._regions: dict[tuple[Site | None, str], otf2.definitions.Region] = {}
        self._windows: dict[tuple, otf2.definitions.RmaWin] = {}
        self._groups: dict[tuple[int, ...], otf2.definitions.Group] = {}
        self._histories: dict[tuple, list[History]] = defaultdict(list)
        for history in run.histories:
            self._histories[history.record.process].append(history)
        self._define_locations(report.ranks)

    def write(self) -> None:
        for process, histories in self._histories.items():
            main = self._locations[process]
            main_events = [sorted(self._epochs(histories), key=_time)]
            main_events += map(self._operations, histories)
            for lane, calls in enumerate(self._calls(histories)):
                location = main
                if lane:  # of another thread
                    name = f"{main.name}, thread {lane + 1}"
                    location = self._definitions.location(name, group=main.group)
                write = self._writer.event_writer_from_location(location).write
                for event in heapq.merge(*([] if lane else main_events), calls, key=_time):
                    write(event)

    # Definitions

    def _define_locations(self, ranks: int) -> None:
        machine = self._definitions.system_tree_node("machine", class_name="machine")
        self._locations = {}
        # Also of the ranks that have no record: windows name them.
        names = {(False, rank, ""): f"rank {rank}" for rank in range(ranks)}
        names.update((process, its[0].record.name) for process, its in self._histories.items())
        for process, name in names.items():
            node = machine
            if process in self._histories:
                host = self._histories[process][0].record.host
                node = self._definitions.system_tree_node(host, class_name="node", parent=machine)
            group = self._definitions.location_group(name, system_tree_parent=node)
            self._locations[process] = self._definitions.location(name, group=group)
        self._ranks = list(self._locations.values())[:ranks]
        self._definitions.group(
            "MPI_COMM_WORLD",
            group_type=otf2.GroupType.COMM_LOCATIONS,
            paradigm=otf2.Paradigm.MPI,
            members=self._ranks,
        )

    def _region(self, wait: Wait) -> otf2.definitions.Region:
        """One for each line of the program with a call."""
        call = wait.site.call if wait.site else wait.reason
        if (wait.site, call) not in self._regions:
            callers = self._callers.get(wait.site, ()) if wait.site else ()
            at_line = bool(callers) and callers[0].line != 0
            file, line = (callers[0].file, callers[0].line) if at_line else ("", 0)
            self._regions[wait.site, call] = self._definitions.region(
                call,
                description=in_words(callers),
                source_file=file,
                begin_line_number=line,
                end_line_number=line,
                paradigm=otf2.Paradigm.MPI,
                region_role=otf2.RegionRole.RMA,
            )
        return self._regions[wait.site, call]

    def _window(self, window: WindowOfRank) -> otf2.definitions.RmaWin:
        if window.key not in self._windows:
            comm = self._definitions.comm("", group=self._group(window.ranks))
            self._windows[window.key] = self._definitions.rma_wins.create(window.name, comm=comm)
        return self._windows[window.key]

    def _group(self, ranks: tuple[int, ...]) -> otf2.definitions.Group:
        """`ranks`: of MPI_COMM_WORLD."""
        if ranks not in self._groups:
            self._groups[ranks] = self._definitions.group(
                "",
                group_type=otf2.GroupType.COMM_GROUP,
                paradigm=otf2.Paradigm.MPI,
                members=[self._ranks[rank] for rank in ranks],
            )
        return self._groups[ranks]

    # Events

    def _at(self, history: History, time: int) -> int:
        return time - self._run.begun(history)

    def _calls(self, histories: list[History]) -> list[list[events._Event]]:
        """Those that waited. Calls of several threads overlap: each lane is for one thread."""
        lanes: list[list] = [[]]
        taken = Lanes()
        for history in histories:
            first = islice(history.waits(), _MOST)
            for wait in sorted(first, key=lambda wait: wait.begun):
                begun, ended = self._at(history, wait.begun), self._at(history, wait.ended)
                lane = taken.take(begun, ended)
                if lane == len(lanes):
                    lanes.append([])
                region = self._region(wait)
                lanes[lane] += (events.Enter(begun, region), events.Leave(ended, region))
        return lanes

    def _window_of(self, history: History, number: int) -> WindowOfRank | None:
        """None: it is not known, or has processes outside MPI_COMM_WORLD, in which the archive
        numbers the ranks of windows."""
        window = history.record.windows.get(number)
        return window if window and window.ranks else None

    def _operations(self, history: History) -> Iterator[events._Event]:
        """An operation that is not done later is so when its call returns. Those of a hot path are
        recorded at their end, with the time of their begin by another clock."""
        entries = list(islice(history.record.entries(OPERATION_KINDS), _MOST))
        done = {entry.id for entry in entries if entry.kind == "operation_done"}
        now = 0
        for entry in entries:
            window = self._window_of(history, entry.window)
            if window is None:
                continue
            now = max(now, self._at(history, entry.time))
            win = self._window(window)
            if entry.kind == "operation_done":
                yield events.RmaOpCompleteNonBlocking(now, win, entry.id)
                continue
            if entry.kind in _NOTIFICATIONS:
                yield events.RmaSync(now, win, entry.rank, _NOTIFICATIONS[entry.kind])
                continue
            if entry.detail in _ATOMICS:
                kind, sent, received = _ATOMICS[entry.detail]
                sent, received = sent * entry.number, received * entry.number
                yield events.RmaAtomic(now, win, entry.rank, kind, sent, received, entry.id)
            else:
                record = events.RmaPut if entry.detail == "put" else events.RmaGet
                yield record(now, win, entry.rank, entry.number, entry.id)
            if entry.id not in done:
                yield events.RmaOpCompleteBlocking(now, win, entry.id)

    def _epochs(self, histories: list[History]) -> Iterator[events._Event]:
        for history in histories:
            fences = []
            for epoch in islice(epochs_of(history), _MOST):
                window = self._window_of(history, epoch.window)
                if window is None:
                    continue
                if epoch.kind == "fence":
                    if epoch.completed:
                        fences.append((epoch, window))
                elif epoch.kind in LOCKS:
                    yield from self._lock(history, window, epoch)
                elif epoch.kind in ("access", "exposure"):
                    yield from self._pairwise(history, window, epoch)
            yield from self._fences(history, fences)

    def _pairwise(
        self, history: History, window: WindowOfRank, epoch: EpochSpan
    ) -> Iterator[events._Event]:
        peers = sorted({step.rank for step in epoch.steps if step.rank >= 0})
        if not peers:  # none was there before the rank was killed
            return
        win = self._window(window)
        group = self._group(tuple(window.ranks[peer] for peer in peers))
        yield events.RmaGroupSync(self._at(history, epoch.begun), _PROCESSES, win, group)
        if epoch.completed:
            time = self._at(history, epoch.ended)
            yield events.RmaGroupSync(time, _MEMORY_AND_PROCESSES, win, group)

    def _fences(
        self, history: History, fences: list[tuple[EpochSpan, WindowOfRank]]
    ) -> Iterator[events._Event]:
        """From the fence's entry to its end. A collective's begin does not name its window, so
        those of overlapping fences must nest: a later one begins where it ends."""
        entered = [(epoch.time_of("closed", "renewing"), epoch, window) for epoch, window in fences]
        over = 0
        for begun, epoch, window in sorted(entered, key=lambda fence: fence[0]):
            if begun < over:
                begun = epoch.ended
            else:
                over = epoch.ended
            yield events.RmaCollectiveBegin(self._at(history, begun))
            yield events.RmaCollectiveEnd(
                self._at(history, epoch.ended),
                otf2.CollectiveOp.BARRIER,
                _MEMORY_AND_PROCESSES,
                self._window(window),
                otf2.Undefined.UINT32,
                0,
                0,
            )

    def _lock(
        self, history: History, window: WindowOfRank, epoch: EpochSpan
    ) -> Iterator[events._Event]:
        """A lock of all ranks is one of each rank that was used."""
        win = self._window(window)
        exclusive = epoch.steps[0].flags & EXCLUSIVE
        kind = otf2.LockType.EXCLUSIVE if exclusive else otf2.LockType.SHARED
        for target in sorted({step.rank for step in epoch.steps if step.rank >= 0}):
            yield events.RmaRequestLock(self._at(history, epoch.begun), win, target, 0, kind)
            times = {step.kind: step.time for step in epoch.steps if step.rank == target}
            # On another node the unlock may travel with the lock, before that is granted.
            granted = times.get("granted", 0)
            if "granted" in times:
                yield events.RmaAcquireLock(self._at(history, granted), win, target, 0, kind)
            if "told" in times:
                over = max(times["told"], granted)
                yield events.RmaReleaseLock(self._at(history, over), win, target, 0)
