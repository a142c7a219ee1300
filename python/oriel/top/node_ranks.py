# SPDX-License-Identifier: BSD-3-Clause
"""The processes of this machine that are ranks of a job."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from oriel.top.process_block import (
    BlockReader,
    ProcessBlock,
    SharedFile,
    TopError,
    mapped_inodes,
    shared_file,
)


class _Process(NamedTuple):
    """`state`: a letter, as in /proc/PID/stat; `started`: ticks since the machine has; `ran`: ticks
    of processor time."""

    parent: int
    state: str
    started: int
    ran: int


@dataclass(frozen=True)
class Rank:
    """`state`: of the process, a letter as in /proc/PID/stat; `ran`: ticks of processor time that
    it has had."""

    pid: int
    state: str
    ran: int
    block: ProcessBlock

    @property
    def name(self) -> str:
        return f"rank {self.block.rank}" if self.block.rank >= 0 else f"process {self.pid}"


class NodeRanks:
    """`pid`: of a rank, or of what has started the job, such as `oriel run` or mpiexec. Its ranks
    are that process, what it has started, and all that these share windows with. None: all ranks of
    this user."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._readers: dict[SharedFile, BlockReader] = {}
        if pid is None:
            return
        process = _processes().get(pid)
        if process is None:
            raise TopError(f"There is no process {pid} on this machine, or it has ended.")
        self._started = process.started
        try:
            shared_file(pid)
        except PermissionError:
            raise TopError(
                f"The shared memory of process {pid} may not be read: it belongs to another user, "
                "or hides its memory. Call `oriel top` as the user who has started the job."
            ) from None
        except OSError:  # it has just ended; the next look says so
            pass

    def ended(self) -> bool:
        """The process that was named has."""
        if self._pid is None:
            return False
        process = _processes().get(self._pid)
        return process is None or process.started != self._started

    def look(self) -> list[Rank]:
        """In their order in MPI_COMM_WORLD; empty: none has a window at the moment."""
        processes = _processes()
        files = self._files(processes)
        self._readers = {file: self._readers.get(file) or BlockReader(file) for file in files}
        ranks = []
        for file, reader in self._readers.items():
            try:
                block = reader.read()
            except OSError:  # it has ended meanwhile
                continue
            except TopError:  # of a job that nobody has asked for
                if self._pid is None:
                    continue
                raise
            if block:
                process = processes[file.pid]
                ranks.append(Rank(file.pid, process.state, process.ran, block))
        return sorted(ranks, key=lambda rank: (rank.block.rank, rank.pid))

    def _files(self, processes: dict[int, _Process]) -> list[SharedFile]:
        files: dict[int, SharedFile] = {}
        # A child that has been forked has its parent's.
        for pid in sorted(processes, key=lambda each: processes[each].started):
            try:
                file = shared_file(pid)
            except OSError:  # another user's, or it has ended
                continue
            if file:
                files.setdefault(file.inode, file)
        if self._pid is None:
            return list(files.values())
        family = _family(processes, self._pid)
        found = {inode for inode, file in files.items() if file.pid in family}
        unseen = set(found)
        while unseen:
            try:
                peers = mapped_inodes(files[unseen.pop()].pid)
            except OSError:
                continue
            unseen |= peers & files.keys() - found
            found |= peers & files.keys()
        return [file for inode, file in files.items() if inode in found]


def _processes() -> dict[int, _Process]:
    """Those that run."""
    found = {}
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{folder}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # The name, in parentheses, may hold anything.
        state, parent, *numbers = text.rpartition(") ")[2].split()
        if state not in "ZX":
            found[int(folder)] = _Process(
                int(parent), state, int(numbers[17]), int(numbers[9]) + int(numbers[10])
            )
    return found


def _family(processes: dict[int, _Process], pid: int) -> set[int]:
    """A process, and those that it has started, and so on."""
    children = defaultdict(list)
    for each, process in processes.items():
        children[process.parent].append(each)
    family: set[int] = set()
    unseen = [pid]
    while unseen:
        family.add(each := unseen.pop())
        unseen += children[each]
    return family
