# SPDX-License-Identifier: BSD-3-Clause
"""A timeline for Perfetto (https://ui.perfetto.dev), in Chrome's JSON format of trace events.
docs/design/wait_states.md says why it is not Perfetto's protobuf.

A process for each rank; in it for each window a track with the waits, one with the steps that other
ranks waited for, one with the holders of the rank's lock, one with those who wait for it, and the
epochs as asynchronous slices. If operations were recorded, a track with the rank's own, one with
those of other ranks on its memory, and one with the notifications that it took; likewise of the
transfers of persistent collectives; and a track of the rank with the sweeps of its progress agent.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from oriel import __version__
from oriel.wait_states.epoch_spans import EpochSpan, epochs_of
from oriel.wait_states.lanes import Lanes
from oriel.wait_states.longest import Longest
from oriel.wait_states.new_file import new_file
from oriel.wait_states.operations import Operation, Taking
from oriel.wait_states.rank_history import History, Wait
from oriel.wait_states.record import EXCLUSIVE, Entry, WindowOfRank
from oriel.wait_states.recorded_activity import Activity
from oriel.wait_states.recorded_run import LOCKS, Run
from oriel.wait_states.report_text import clock_notes
from oriel.wait_states.run_report import Report, ShownState, window_name
from oriel.wait_states.tracks import STEP_NANOSECONDS, Slice, Tracks
from oriel.wait_states.wait_state import WaitState

# A rank that has waited for a lock this long was in its queue.
_LEAST_LOCK_WAIT = 1_000  # nanoseconds


def write_timeline(report: Report, run: Run, path: Path) -> None:
    """One event a line, so that the whole is never in memory as text."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    about = {"oriel": __version__}
    if len(report.machines) > 1:
        about["clocks"] = " ".join(clock_notes(report.machines))
    if report.shown.left_out or report.epochs.left_out:
        about["waits and epochs"] = (
            f"the longest {Longest.MOST:,} of each; {report.shown.left_out:,} waits and "
            f"{report.epochs.left_out:,} epochs are left out"
        )
    for name, left_out in report.activity.left_out.items():
        about[name] = f"the first {Activity.MOST:,}; {left_out:,} later ones are left out"
    head = {"displayTimeUnit": "ns", "otherData": about}
    with new_file(path) as file:
        file.write(json.dumps(head)[:-1] + ', "traceEvents": [')
        separator = "\n"
        for event in _Events(report, run).all():
            file.write(separator + encode(event))
            separator = ",\n"
        file.write("\n]}\n")


# A rank, a track of its, and a time.
_Spot = tuple[History, int, int]


class _Events:
    def __init__(self, report: Report, run: Run) -> None:
        self._report = report
        self._run = run
        self._tracks = Tracks(run)
        self._flows = itertools.count(1)
        # Steps that somebody waited for, and the end of each of these waits.
        self._steps: dict[tuple[History, int], dict[int, Entry]] = defaultdict(dict)

    def all(self) -> Iterator[dict]:
        # One of each process. Of a rank the number is shown behind its name.
        for history in {each.record.process: each for each in self._run.histories}.values():
            name = "rank" if history.rank >= 0 else history.record.name
            yield self._tracks.metadata("process_name", history, name=name)
            yield self._tracks.metadata(
                "process_sort_index", history, sort_index=self._tracks.pid(history)
            )
        yield from self._waits()
        yield from self._step_slices()
        yield from self._epochs()
        yield from self._moved(
            self._report.activity.operations, "operations", "operations of others"
        )
        yield from self._moved(self._report.activity.transfers, "transfers", "transfers of others")
        yield from self._sweeps()
        yield from self._tracks.names

    def _waits(self) -> Iterator[dict]:
        """A slice for each wait, in it one for each wait state."""
        parts: dict[Wait, list[ShownState]] = defaultdict(list)
        for shown in self._report.shown:
            parts[shown.state.wait].append(shown)
        # Threads of a rank can wait on one window at a time: slices of a track may not overlap.
        lanes: dict[tuple, Lanes] = defaultdict(Lanes)
        for wait, its in sorted(parts.items(), key=lambda part: part[0].begun):
            its.sort(key=lambda shown: shown.state.begun)
            state, row = its[0]
            key = self._tracks.pid(state.history), wait.window and wait.window.key
            lane = lanes[key].take(wait.begun, wait.ended)
            track = self._tracks.track(state.history, wait.window, "waits", lane)
            args = {"in": row.place, "for": wait.reason}
            on_track = Slice(
                state.history, wait.window, "waits", "", wait.begun, wait.ended, args, track
            )
            yield self._tracks.event_of(replace(on_track, name=row.call or wait.reason), "wait")
            for state, _ in its:
                part = replace(
                    on_track,
                    name=state.pattern,
                    begun=state.begun,
                    ended=state.ended,
                    args={} if state.late is None else {"late rank": state.late},
                )
                yield self._tracks.event_of(part, "wait state")
                yield from self._arrow_of_wait(state, track)

    def _arrow_of_wait(self, state: WaitState, track: int) -> Iterator[dict]:
        """From the step of the late rank to the end of the wait state, a nanosecond before it,
        because the slice ends there."""
        if state.ended_by is None:
            return
        late, step = state.ended_by
        end = state.ended - 1
        begin = min(step.time, end)
        window = late.record.windows.get(step.window)
        self._steps[late, step.window][begin] = step
        source = self._tracks.track(late, window, "late steps")
        yield from self._arrow(
            state.pattern, "late rank", (late, source, begin), (state.history, track, end)
        )

    def _arrow(self, name: str, category: str, source: _Spot, target: _Spot) -> Iterator[dict]:
        flow = {"name": name, "cat": category, "id": next(self._flows)}
        for history, track, time, ends in (
            (*source, {"ph": "s"}),
            (*target, {"ph": "f", "bp": "e"}),
        ):
            yield {**ends, **flow, **self._tracks.at(history, time), "tid": track}

    def _step_slices(self) -> Iterator[dict]:
        for (history, number), steps in self._steps.items():
            window = history.record.windows.get(number)
            track = self._tracks.track(history, window, "late steps")
            times = sorted(steps)
            for time, after in itertools.zip_longest(times, times[1:]):
                end = time + STEP_NANOSECONDS
                ended = end if after is None else min(end, after)
                name = steps[time].name
                step = Slice(history, window, "late steps", name, time, ended, {}, track)
                yield self._tracks.event_of(step, "step")

    def _epochs(self) -> Iterator[dict]:
        numbers = itertools.count(1)
        locks: list[Slice] = []
        shown = set(self._report.epochs)
        for history in self._run.histories:
            for epoch in epochs_of(history):
                if epoch.without_steps() not in shown:
                    continue
                window = history.record.windows.get(epoch.window)
                if epoch.kind in LOCKS:
                    locks += self._locks_of(epoch, window)
                # Local: of the process. Perfetto shows others apart from all processes.
                same = {"cat": "epoch", "id2": {"local": hex(next(numbers))}}
                same["tid"] = self._tracks.track(history, window, "waits")
                name = f"{window_name(window) or 'no window'}: {epoch.kind}"
                yield {"ph": "b", "name": name, **same, **self._tracks.at(history, epoch.begun)}
                for step in epoch.steps:
                    if step.kind in ("opened", "completed", "renewed"):
                        continue
                    args = {} if step.rank < 0 else {"peer": step.rank}
                    at = self._tracks.at(history, step.time)
                    yield {"ph": "n", "name": step.kind, **same, **at, "args": args}
                args = {"completed": epoch.completed}
                at = self._tracks.at(history, epoch.ended)
                yield {"ph": "e", "name": name, **same, **at, "args": args}
        yield from self._tracks.drawn(locks, "lock")

    def _moved(self, operations: list[Operation], own: str, others: str) -> Iterator[dict]:
        """Of each operation a slice at its origin, one at its target, and an arrow between them;
        of its notification one where it was taken, and an arrow to that."""
        slices: list[Slice] = []
        arrows: list[tuple[str, str, Slice, Slice]] = []
        takings: dict[Taking, Slice] = {}
        for each in operations:
            window, name = each.window, each.name
            args = {"target": each.rank, "bytes": each.bytes, **each.about}
            source = Slice(each.origin, window, own, name, each.begun, each.ended, args)
            slices.append(source)
            whose = f"of {each.origin.record.name}"
            if each.target and each.arrived is not None:
                args = {"bytes": each.bytes}
                there = Slice(
                    each.target, window, others, f"{name} {whose}", each.arrived, None, args
                )
                slices.append(there)
                arrows.append((name, "operation", source, there))
            if each.taking:
                taken = takings.get(each.taking) or self._taken(each, each.taking, whose)
                takings[each.taking] = taken
                taken.begun = max(taken.begun, each.begun)
                arrows.append(("notification", "notification", source, taken))
        yield from self._tracks.drawn([*slices, *takings.values()], "operation")
        for name, category, source, target in arrows:
            yield from self._arrow(
                name,
                category,
                (source.history, source.track, source.begun),
                (target.history, target.track, target.ended - 1),
            )

    def _taken(self, operation: Operation, taking: Taking, whose: str) -> Slice:
        """Several ranks can have added to a counter."""
        one = "tag" in operation.about
        name = f"{taking.name} {whose}" if one else taking.name
        args = {"bytes": operation.bytes} if one else {"more": taking.number}
        return Slice(
            taking.history, operation.window, "notifications", name, taking.time, None, args
        )

    def _sweeps(self) -> Iterator[dict]:
        for history, begun, ended in self._report.activity.sweeps:
            track = self._tracks.track(history, None, "progress agent")
            sweep = Slice(history, None, "progress agent", "sweep", begun, ended, {}, track)
            yield self._tracks.event_of(sweep, "progress agent")

    def _locks_of(self, epoch: EpochSpan, window: WindowOfRank | None) -> Iterator[Slice]:
        """By whom a rank's lock is held, and who waits for it: on the tracks of that rank."""
        whose = epoch.history.record.name
        over = {step.rank: step.time for step in epoch.steps if step.kind == "told"}
        for step in epoch.steps:
            target = self._run.peer(epoch.history, window, step.rank)
            if step.kind != "granted" or target is None:
                continue
            args = {"exclusive": bool(step.flags & EXCLUSIVE)}
            # Where the unlock has travelled with the lock, it was held in between.
            held, end = sorted((step.time, over.get(step.rank, epoch.ended)))
            yield Slice(target, window, "lock", f"held by {whose}", held, max(end, held + 1), args)
            if epoch.kind == "lock" and step.time - epoch.begun > _LEAST_LOCK_WAIT:
                name = f"{whose} waits"
                yield Slice(target, window, "lock queue", name, epoch.begun, step.time, args)
