# SPDX-License-Identifier: BSD-3-Clause
"""What one process has recorded: `rank-N.record` or, without MPI_COMM_WORLD, `process-PID.record`,
and the `.names` beside it, in a report's folder. src/engine/record/recorder.cpp writes them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from oriel.new_path import make_new
from oriel.wait_states.event_table import (
    ENUMERATIONS,
    EVENTS,
    FLAGS,
    FLAGS_VALUE,
    VERSION,
    Event,
    Group,
)
from oriel.wait_states.machine_clock import MachineClock

_HEAD = struct.Struct("<8sIIiiiIQQQQ64s64s")
_HEAD_BYTES = 4096
_ENTRY = struct.Struct("<QQIiIBBH")
_TIME = struct.Struct("<Q")  # of an entry, its begin
_KIND_AT = struct.calcsize("<QQIiI")  # in an entry
# An entry's kind and detail, among its words of two bytes.
_MEANING_AT = slice(_KIND_AT // 2, None, _ENTRY.size // 2)
_WANTED = 1
# Of MPI_COMM_WORLD: no machine has so many.
_MOST_RANKS = 1 << 22
# Entries of a file that are read at once.
_PIECE = 1 << 11

EPOCHS = ENUMERATIONS["EpochKind"]
REASONS = ENUMERATIONS["WaitReason"]
PROTOCOLS = ENUMERATIONS["Protocol"]


def _kind(event: Event) -> str:
    return event.name.removeprefix("epoch_")


def _kinds_of(*groups: Group) -> tuple[str, ...]:
    return tuple(_kind(event) for event in EVENTS if event.group in groups)


def _details(event: Event) -> tuple[str, ...]:
    return ENUMERATIONS[event.detail.split()[1]] if event.detail else ("",)


KINDS = tuple(map(_kind, EVENTS))
EPOCH_KINDS = _kinds_of(Group.EPOCH)
OPERATION_KINDS = _kinds_of(Group.OPERATION)
TRANSFER_KINDS = _kinds_of(Group.TRANSFER)
STEP_KINDS = _kinds_of(Group.EPOCH, Group.STEP)
_DETAILS = tuple(map(_details, EVENTS))
# Those that a recorder of this version writes; the kind is the lower byte.
_MEANINGS = {
    kind | detail << 8
    for kind, details in enumerate(_DETAILS)
    for detail in range(len(details))
    if KINDS[kind] != "end"
}
USED = FLAGS["used"]
EXCLUSIVE = FLAGS["exclusive"]


# The same on all ranks of a window: its first rank in MPI_COMM_WORLD, that rank's number of it, and
# which of the rank's engines made it. Of a window with processes outside MPI_COMM_WORLD -1, the
# number, and the record's name: it is compared with no other process.
WindowKey = tuple[int, int, str]


class RecordError(Exception):
    """A sentence on a folder or file from which no report can be made, or not to the end."""


class Entry(NamedTuple):
    """One event, as the table of events has it. `time`: nanoseconds of the machine's clock;
    `window`: its number in the record's process; `rank`: the peer, in the window, -1: several or
    none; `id`: of the begin of a wait, its call site."""

    time: int
    number: int
    window: int
    rank: int
    id: int
    kind: str
    detail: str
    flags: int

    @property
    def name(self) -> str:
        """Of a step, for people."""
        epoch = f"{self.detail} epoch " if self.kind in EPOCH_KINDS else ""
        return epoch + self.kind.replace("_", " ")

    @property
    def protocol(self) -> str:
        """Of an operation."""
        return PROTOCOLS[self.flags & FLAGS_VALUE]


@dataclass(frozen=True)
class Place:
    """A place in an executable or library. `offset`: hexadecimal, as addr2line takes it."""

    offset: str
    function: str
    file: str


@dataclass(frozen=True)
class Site:
    """Where a program makes a call: the innermost caller first."""

    call: str
    callers: tuple[Place, ...]


@dataclass(frozen=True)
class WindowOfRank:
    """A window as one rank numbers it. `ranks`: of MPI_COMM_WORLD, by their ranks in the window,
    empty where some are outside; `name`: as the program calls it (`named`), else from its
    numbers."""

    key: WindowKey
    rank: int
    ranks: tuple[int, ...]
    name: str
    named: bool

    def world_rank(self, rank: int) -> int | None:
        """Of a rank of the window, in MPI_COMM_WORLD."""
        return self.ranks[rank] if 0 <= rank < len(self.ranks) else None


@dataclass
class Record:
    """`rank`, `ranks`: of MPI_COMM_WORLD, -1 without it; `ended`: 0 where the process did not end
    its MPI; `lost`: events that found no space; `in_host`: nanoseconds in which one of its
    threads or more were in blocking calls that Oriel leaves to the MPI library, 0 where `ended` is
    0; `boot`: of its
    machine; `clock`: maps the times of the file to those that it gives, None: they are the same;
    `timed_by`: the boot of the machine by whose clock they are: only times of the same one can be
    compared."""

    path: Path
    rank: int
    ranks: int
    pid: int
    begun: int
    ended: int
    lost: int
    in_host: int
    boot: str
    host: str
    timed_by: str
    clock: MachineClock | None = None
    windows: dict[int, WindowOfRank] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)

    @property
    def written(self) -> float:
        """When the process last named a window or a call site, as files have it."""
        return self.path.with_suffix(".names").stat().st_mtime

    @property
    def process(self) -> tuple[bool, int, str]:
        """The same in all records of a process. Ranks are sorted before other processes."""
        return (False, self.rank, "") if self.rank >= 0 else (True, self.pid, self.boot)

    @property
    def name(self) -> str:
        return f"rank {self.rank}" if self.rank >= 0 else f"process {self.pid}"

    def with_clock(self, clock: MachineClock, timed_by: str) -> Record:
        """The same record with the times of another machine."""
        ended = self.ended and clock.map(self.ended)
        begun = clock.map(self.begun)
        return replace(self, begun=begun, ended=ended, timed_by=timed_by, clock=clock)

    @property
    def events(self) -> int:
        """At most; exact if the process has ended its MPI."""
        return (self.path.stat().st_size - _HEAD_BYTES) // _ENTRY.size

    def entries(
        self, kinds: tuple[str, ...] = KINDS, first: int = 0, most: int | None = None
    ) -> Iterator[Entry]:
        """Those of these kinds among the entries from `first` on, at most so many, in the order in
        which they were recorded."""
        table = _table_of(kinds)
        for piece, numbers in self._pieces(first, most):
            wanted = numbers.translate(table)
            if _WANTED in wanted:
                whole = memoryview(piece)[: len(numbers) * _ENTRY.size]
                found: Iterable[tuple] = compress(_ENTRY.iter_unpack(whole), wanted)
                if self.clock:
                    found = ((self.clock.map(time), *rest) for time, *rest in found)
                yield from [
                    # Half the time of Entry().
                    tuple.__new__(
                        Entry,
                        (
                            time,
                            number,
                            window,
                            rank,
                            id,
                            KINDS[kind],
                            _DETAILS[kind][detail],
                            flags,
                        ),
                    )
                    for time, number, window, rank, id, kind, detail, flags in found
                ]

    def counts(self, kinds: tuple[str, ...]) -> dict[str, int]:
        """How many entries are of each of these kinds."""
        found = dict.fromkeys(kinds, 0)
        for _, numbers in self._pieces():
            for kind in kinds:
                found[kind] += numbers.count(KINDS.index(kind))
        return found

    def first_of_each(self, block: int, kinds: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Of each block of so many entries the first that is of these kinds: its number and time.
        Nothing of blocks that have none."""
        table = _table_of(kinds)
        entries = 0
        for piece, numbers in self._pieces():
            wanted = numbers.translate(table)
            for start in range(0, len(numbers), block):
                found = wanted.find(_WANTED, start, start + block)
                if found >= 0:
                    (time,) = _TIME.unpack_from(piece, found * _ENTRY.size)
                    yield entries + start, self.clock.map(time) if self.clock else time
            entries += len(numbers)

    def last_time(self) -> int:
        """By the clock of the file."""
        last = self.begun
        for piece, numbers in self._pieces():
            (last,) = _TIME.unpack_from(piece, (len(numbers) - 1) * _ENTRY.size)
        return last

    def _pieces(self, first: int = 0, most: int | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Whole entries, and the number of each one's kind. The file is not kept open: a run can
        have more ranks than a process may have files."""
        at = _HEAD_BYTES + first * _ENTRY.size
        while most is None or most > 0:
            with self.path.open("rb", buffering=0) as file:
                file.seek(at)
                piece = file.read(_ENTRY.size * min(_PIECE, most or _PIECE))
            whole = len(piece) // _ENTRY.size
            meanings = memoryview(piece)[: whole * _ENTRY.size].cast("H")[_MEANING_AT]
            numbers = piece[_KIND_AT : whole * _ENTRY.size : _ENTRY.size]
            if not set(meanings) <= _MEANINGS:  # nothing has been written there
                end = next(at for at, each in enumerate(meanings) if each not in _MEANINGS)
                yield piece, numbers[:end]
                return
            if not numbers:
                return
            yield piece, numbers
            at += len(piece)
            most = most and most - whole


@cache
def _table_of(kinds: tuple[str, ...]) -> bytes:
    """Translates the numbers of kinds: to _WANTED of these, to 0 of all others."""
    return bytes(kind < len(KINDS) and KINDS[kind] in kinds for kind in range(256))


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def printable(name: str) -> str:
    """A program's name of something cannot control the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _ranks(ranges: str, limit: int) -> tuple[int, ...]:
    """Of 0-3,7. A ValueError if they are not ranks below `limit`, each of which a window has
    once."""
    ranks: list[int] = []
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        some = range(int(first), int(last or first) + 1)
        if not some.start < some.stop <= limit or len(ranks) + len(some) > limit:
            raise ValueError(ranges)
        ranks += some
    return tuple(ranks)


def _read_names(record: Record, engine: str) -> None:
    try:
        text = record.path.with_suffix(".names").read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return
    # Only \n ends a line: names may have other separators. A line may be cut: the last one of a
    # rank that was killed, and any for which there was no space.
    for line in text.split("\n")[:-1]:
        kind, *words = line.split("\t")
        with suppress(ValueError):
            if kind == "site":
                _add_site(record, words)
            elif kind == "window":
                _add_window(record, engine, words)


def _add_site(record: Record, words: list[str]) -> None:
    number, call, *callers = words
    offsets, functions, files = callers[::3], callers[1::3], callers[2::3]
    for offset in offsets:
        int(offset, 16)
    places = map(Place, offsets, map(printable, functions), map(printable, files))
    record.sites[int(number)] = Site(printable(call), tuple(places))


def _add_window(record: Record, engine: str, words: list[str]) -> None:
    number, rank, first, ranges, *parts = words
    name = printable(" ".join(parts))
    # A process that has started without MPI_COMM_WORLD does not know how many ranks it has.
    ranks = _ranks(ranges, record.ranks if record.ranks > 0 else _MOST_RANKS)
    if ranks:
        key = (ranks[0], int(first), engine)
        unnamed = f"{first} of rank {ranks[0]}"
    else:
        key = (-1, int(number), record.path.stem)
        unnamed = f"{number} of {record.name}"
    record.windows[int(number)] = WindowOfRank(key, int(rank), ranks, name or unnamed, bool(name))


# Of a rank, or of a process without MPI_COMM_WORLD; the third part: of its second engine, ...
_NAME = re.compile(r"(rank|process)-\d+(?:-(\d+))?\.record")


def _read_record(path: Path) -> Record:
    if path.is_fifo():  # which would never end
        raise RecordError(f"{path} is no record of Oriel's.")
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES or head[:8] != b"orielrec":
        raise RecordError(
            f"{path} is no record of Oriel's, or is cut short. Remove it, or run the program again."
        )
    _, version, entry_bytes, rank, ranks, pid, _, begun, ended, lost, in_host, boot, host = (
        _HEAD.unpack_from(head)
    )
    if version != VERSION or entry_bytes != _ENTRY.size:
        raise RecordError(
            f"{path} was recorded by another version of Oriel: its format is {version}, and this "
            f"command reads {VERSION}. Read it with that version's command."
        )
    if not (rank == ranks == -1 or 0 <= rank < ranks <= _MOST_RANKS):
        raise RecordError(f"{path} is damaged: it is of rank {rank} of {ranks}. Remove it.")
    machine = _text(boot)
    host_name = _text(host)
    record = Record(
        path, rank, ranks, pid, begun, ended, lost, in_host, machine, host_name, machine
    )
    _read_names(record, _NAME.fullmatch(path.name)[2] or "")
    return record


def read_records(folder: Path) -> tuple[list[Record], dict[str, str]]:
    """Of all processes that have left one, the ranks first; and by file name a sentence on each
    that cannot be read. An error if none can."""
    if not folder.is_dir():
        raise RecordError(
            f"There is no folder {folder}. Give one that `oriel run --report` has made."
        )
    paths = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    if not paths:
        raise RecordError(
            f"No rank has recorded anything in {folder}: a rank does so from its first window on."
        )
    records: list[Record] = []
    unread: dict[str, str] = {}
    for path in paths:
        try:
            records.append(_read_record(path))
        except RecordError as error:
            unread[path.name] = str(error)
        except OSError as error:
            unread[path.name] = f"{path} cannot be read ({error.strerror})."
    if not records:
        raise RecordError(next(iter(unread.values())))
    if _several_runs(records):
        raise RecordError(
            f"{folder} has records of several runs. Remove the folder, and run the program again."
        )
    return sorted(records, key=lambda record: (record.process, record.begun)), unread


def _several_runs(records: list[Record]) -> bool:
    """A rank that finds an earlier run's record of it writes none, others do. MPI has ended on no
    rank of a run before it begins on another."""
    # Not those of later engines, whose ranks have ended MPI before.
    ranks = [record for record in records if record.path.stem == f"rank-{record.rank}"]
    if len({record.ranks for record in ranks}) > 1:
        return True
    for boot in {record.boot for record in ranks}:
        its = [record for record in ranks if record.boot == boot]
        first_end = min((record.ended for record in its if record.ended), default=None)
        if first_end is not None and any(record.begun > first_end for record in its):
            return True
    return False


def make_folder() -> Path:
    """A new one for a run's records, in the current folder."""
    try:
        base = Path.cwd() / "oriel-report"
    except FileNotFoundError:
        raise RecordError(
            "No folder for the record can be made in the current folder, which has been removed. "
            "Start the program in a folder that exists."
        ) from None
    try:
        return make_new(base, Path.mkdir)
    except OSError as error:
        raise RecordError(
            f"No folder for the record can be made in {base.parent} ({error.strerror}). Start "
            "the program in a folder in which you may write."
        ) from None
