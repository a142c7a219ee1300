# SPDX-License-Identifier: BSD-3-Clause
"""The process block of a rank: what it shows its peers in shared memory. It is only read.

src/transport/shm/process_block.hpp says what is in it.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from oriel.wait_states.record import REASONS

# ProcessBlock: magic, version, id, two words of others, fenced, rank.
_HEAD = struct.Struct("<IIQQQIi")
_MAGIC = 0x0E1E15B1
_VERSION = 17
# WaitSign: version, reason, window, since, awaited, certain, window_name.
_SIGN = struct.Struct("<QIIQ4QI4x64s")
_SIGN_OFFSET = 28 * 64
# CallCounts: locked, hot, ended, locked_then.
_CALLS = struct.Struct("<4Q")
_CALLS_OFFSET = 30 * 64
_MOST_LOOKS = 8
# A block lies at a multiple of this in the file, the next power of two of its bytes.
_ALIGNMENT = 1 << 19
# The file of a process, as /proc names it: of memfd_create, or in /dev/shm.
_FILES = ("/memfd:oriel ", "/dev/shm/oriel-")


class TopError(Exception):
    """A sentence on processes that cannot be looked at."""


@dataclass(frozen=True)
class ShownWait:
    """A wait that has lasted for a tenth of a second. `since`: nanoseconds of the monotonic clock;
    `awaited`: ids of processes, the first few that are known; `certain`: all of these must act
    before it ends, else perhaps some of them."""

    reason: str
    window: str
    since: int
    awaited: tuple[int, ...]
    certain: bool


class CallCounts(NamedTuple):
    """Calls on windows so far, and starts of Oriel's persistent requests. `locked`: those that are
    counted one by one; `hot`: those on the hot paths, which are added some thousands at a time;
    `quiet_since`: nanoseconds of the monotonic clock at which the last locked call ended, if that
    had waited for a tenth of a second, or 0."""

    locked: int
    hot: int
    quiet_since: int


@dataclass(frozen=True)
class ProcessBlock:
    """`id`: of the process, random; `rank`: in MPI_COMM_WORLD, -1 if it is not known."""

    id: int
    rank: int
    wait: ShownWait | None
    calls: CallCounts


@dataclass(frozen=True)
class SharedFile:
    """What a process shares with its peers. `inode` is the same for all who have it."""

    pid: int
    path: str
    inode: int


def shared_file(pid: int) -> SharedFile | None:
    """None: the process has no window yet, or no Oriel. An OSError if it must not be looked at, or
    has ended."""
    folder = f"/proc/{pid}/fd"
    for number in os.listdir(folder):
        path = f"{folder}/{number}"
        try:
            if os.readlink(path).startswith(_FILES):
                return SharedFile(pid, path, os.stat(path).st_ino)
        except FileNotFoundError:  # it has been closed meanwhile
            continue
    return None


def mapped_inodes(pid: int) -> set[int]:
    """Of the files of processes that this one shares windows with, and its own."""
    inodes = set()
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").split("\n"):
        words = line.split(None, 5)
        if len(words) == 6 and words[5].startswith(_FILES):
            inodes.add(int(words[4]))
    return inodes


class BlockReader:
    """Reads the block of one process. The file is open only meanwhile, so that its memory ends with
    the process."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._offset: int | None = None

    def read(self) -> ProcessBlock | None:
        """None: there is none at the moment, as before the first window and after MPI_Finalize."""
        descriptor = os.open(
            self._file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        )
        try:
            if os.fstat(descriptor).st_ino != self._file.inode:
                return None
            if self._offset is None or not self._is_block(descriptor, self._offset):
                self._offset = self._find(descriptor)
            return None if self._offset is None else _block_at(descriptor, self._offset)
        finally:
            os.close(descriptor)

    def _find(self, descriptor: int) -> int | None:
        """Holes of the file are passed over."""
        offset = 0
        while True:
            try:
                data = os.lseek(descriptor, offset, os.SEEK_DATA)
            except OSError:  # no more data
                return None
            offset = max(offset, data - data % _ALIGNMENT)
            if self._is_block(descriptor, offset):
                return offset
            offset += _ALIGNMENT

    def _is_block(self, descriptor: int, offset: int) -> bool:
        head = os.pread(descriptor, _HEAD.size, offset)
        if len(head) < _HEAD.size:
            return False
        magic, version, *_ = _HEAD.unpack(head)
        if magic == _MAGIC and version != _VERSION:
            whose = f"Process {self._file.pid} runs with another version of Oriel"
            raise TopError(f"{whose}. Use the command of that version.")
        return magic == _MAGIC


def _block_at(descriptor: int, offset: int) -> ProcessBlock:
    *_, identity, _, _, _, rank = _HEAD.unpack(os.pread(descriptor, _HEAD.size, offset))
    wait = _wait_at(descriptor, offset + _SIGN_OFFSET)
    return ProcessBlock(identity, rank, wait, _calls_at(descriptor, offset + _CALLS_OFFSET))


def _calls_at(descriptor: int, offset: int) -> CallCounts:
    """`ended` belongs to `locked_then` where that is the same before and after."""
    before = os.pread(descriptor, _CALLS.size, offset)
    locked, hot, ended, then = _CALLS.unpack(os.pread(descriptor, _CALLS.size, offset))
    same = before[-8:] == then.to_bytes(8, "little")
    return CallCounts(locked, hot, ended if same and locked == then else 0)


def _wait_at(descriptor: int, offset: int) -> ShownWait | None:
    """What was shown at one moment: the version, which is odd while the owner writes, is the same
    before and after. An owner that was killed in between leaves it odd."""
    for _ in range(_MOST_LOOKS):
        before = os.pread(descriptor, 8, offset)
        sign = os.pread(descriptor, _SIGN.size, offset)
        if before == sign[:8] == os.pread(descriptor, 8, offset) and before[0] % 2 == 0:
            break
    else:
        return None
    _, reason, number, since, *awaited, certain, name = _SIGN.unpack(sign)
    if since == 0 or reason >= len(REASONS):
        return None
    window = name.partition(b"\0")[0].decode("utf-8", "ignore")
    if number and not window:
        window = f"number {number}"
    return ShownWait(REASONS[reason], window, since, tuple(filter(None, awaited)), certain == 1)
