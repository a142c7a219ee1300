# SPDX-License-Identifier: BSD-3-Clause
"""`oriel top`: the table, and reading process blocks, here of this process itself."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from oriel.cli import top
from oriel.cli.commands import main as command
from oriel.top import node_ranks
from oriel.top.call_rates import CallRates
from oriel.top.node_ranks import NodeRanks, Rank
from oriel.top.process_block import (
    _ALIGNMENT,
    _CALLS,
    _CALLS_OFFSET,
    _HEAD,
    _MAGIC,
    _SIGN,
    _SIGN_OFFSET,
    _VERSION,
    CallCounts,
    ProcessBlock,
    SharedFile,
    ShownWait,
    TopError,
)
from oriel.top.wait_table import circle_line, circles, table
from oriel.wait_states.record import REASONS

NO_CALLS = CallCounts(0, 0, 0)


def waiting(rank: int, *awaited: int, certain: bool = True, window: str = "halo") -> Rank:
    """Ids are ranks, plus 100."""
    wait = ShownWait("fence", window, 0, tuple(100 + each for each in awaited), certain)
    block = ProcessBlock(100 + rank, rank, wait if awaited else None, NO_CALLS)
    return Rank(5000 + rank, "S", 0, block)


def computing(pid: int, ran: int, locked: int, hot: int = 0, quiet_since: int = 0) -> Rank:
    return Rank(pid, "R", ran, ProcessBlock(pid, 6, None, CallCounts(locked, hot, quiet_since)))


# The table


def test_a_table():
    ranks = [
        waiting(0, 1, 9),
        waiting(1),
        waiting(2, 0, certain=False, window="\033[2J"),
        Rank(77, "T", 0, ProcessBlock(7, -1, None, NO_CALLS)),
    ]
    assert table(ranks, 1_550_000_000, CallRates()) == [
        "rank   pid  state             seconds  cpu  calls/s  for       window",
        "   0  5000  waits in a fence      1.6                rank 1    halo",
        "   1  5001  sleeps elsewhere",
        "   2  5002  waits in a fence      1.6                rank 0 ?  ?[2J",
        "   -    77  is stopped",
    ]


def test_call_rates_are_what_changes_between_two_looks():
    call_rates = CallRates()
    second, ticks = 1_000_000_000, os.sysconf("SC_CLK_TCK")
    call_rates.look([computing(1, 50, 10), computing(2, 50, 10)], 5 * second)
    first = computing(1, 50, 10)
    assert table([first], 5 * second, call_rates)[1] == "   6    1  runs"
    call_rates.look([computing(1, 50 + ticks, 10), computing(2, 50, 30, 2000)], 7 * second)
    assert table([computing(1, 0, 0), computing(2, 0, 0)], 7 * second, call_rates) == [
        "rank  pid  state  seconds  cpu  calls/s  for  window",
        "   6    1  runs       2.0  50%        0",
        "   6    2  runs             0%    1,010",
    ]
    # Before the first look, too, if a long wait ended then.
    looked = [computing(1, 50 + ticks, 10, 0, 3 * second), computing(2, 50, 30, 2000)]
    call_rates.look(looked, 8 * second)
    assert [call_rates.rates(rank).quiet for rank in looked] == [5 * second, 1 * second]
    assert call_rates.rates(computing(3, 0, 0)) is None


def test_each_reason_has_words():
    for reason in REASONS:
        wait = ShownWait(reason, "", 0, (), True)
        rank = Rank(1, "S", 0, ProcessBlock(1, 0, wait, NO_CALLS))
        assert " waits " in table([rank], 0, CallRates())[1]


def names(ranks: list[Rank]) -> list[list[int]]:
    return [[rank.block.rank for rank in circle] for circle in circles(ranks)]


def test_circles():
    assert names([waiting(0, 1), waiting(1, 2), waiting(2), waiting(3, 4)]) == []
    assert names([waiting(0, 1), waiting(1, 2), waiting(2, 3, 1), waiting(3)]) == [[1, 2]]
    assert names([waiting(0, 1), waiting(1, 0), waiting(2, 3), waiting(3, 2)]) == [[0, 1], [2, 3]]
    assert names([waiting(0, 1), waiting(1, 0, certain=False)]) == []
    assert circle_line(circles([waiting(5, 5)])[0]) == "rank 5 waits for itself."


def test_a_terminal_gets_as_much_as_it_shows(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "5")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    top._draw([f"{number} " + "x" * 30 for number in range(9)])
    text = capsys.readouterr().out
    assert text.startswith("\033[H0 x") and text.endswith("\033[J")
    lines = text.split("\n")[:-1]
    assert len(lines) == 4 and lines[3] == "... and 6 more\033[K"
    assert all(line.endswith("\033[K") for line in lines)
    assert lines[1] == "1 " + "x" * 18 + "\033[K"


# Process blocks


def test_the_library_has_the_same_layout():
    """tests/mpi/test_top.py reads what a rank has written."""
    folder = Path(__file__).resolve().parents[2] / "src" / "transport" / "shm"
    block = (folder / "process_block.hpp").read_text(encoding="utf-8")
    assert int(re.search(r"magic_value = (\w+);", block)[1], 16) == _MAGIC
    assert int(re.search(r"current_version = (\d+);", block)[1]) == _VERSION
    lines = re.search(r"offsetof\(ProcessBlock, wait_sign\) == (\d+) \* cache_line", block)[1]
    assert int(lines) * 64 == _SIGN_OFFSET
    order = re.search(r"bit_ceil\(ProcessBlock::bytes\(\)\) == std::size_t\{1\} << (\d+)", block)[1]
    assert 1 << int(order) == _ALIGNMENT
    lines = re.search(r"sizeof\(WaitSign\) == (\d+) \* cache_line", block)[1]
    assert int(lines) * 64 == _SIGN.size
    lines = re.search(r"offsetof\(ProcessBlock, calls\) == (\d+) \* cache_line", block)[1]
    assert int(lines) * 64 == _CALLS_OFFSET


class SharedMemory:
    """A file as the library makes it, of this process."""

    def __init__(self, kind: str) -> None:
        if kind == "memfd":
            self.descriptor = os.memfd_create("oriel")
        else:
            path = f"/dev/shm/oriel-{os.getpid()}"
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            os.unlink(path)

    def write(
        self,
        at: int,
        *,
        version=_VERSION,
        rank=3,
        sign=(2, 2, 0, 50, 8, 9, 0, 0, 1, b"w"),
        calls=(0, 0, 0, 0),
    ):
        head = _HEAD.pack(_MAGIC, version, 4711, 0, 0, 1, rank)
        os.pwrite(self.descriptor, head, at * _ALIGNMENT)
        os.pwrite(self.descriptor, _SIGN.pack(*sign), at * _ALIGNMENT + _SIGN_OFFSET)
        os.pwrite(self.descriptor, _CALLS.pack(*calls), at * _ALIGNMENT + _CALLS_OFFSET)


@pytest.fixture(params=["memfd", "shm"])
def memory(request):
    made = SharedMemory(request.param)
    yield made
    os.close(made.descriptor)


def looked() -> list[ProcessBlock]:
    ranks = NodeRanks(os.getpid()).look()
    assert all(rank.pid == os.getpid() for rank in ranks)
    return [rank.block for rank in ranks]


def test_a_block_is_found_wherever_it_is(memory):
    assert looked() == []
    os.pwrite(memory.descriptor, b"other memory", 0)
    memory.write(3)
    expected = ProcessBlock(4711, 3, ShownWait("fence", "w", 50, (8, 9), True), NO_CALLS)
    assert looked() == [expected]
    node = NodeRanks(None)
    assert expected in [rank.block for rank in node.look()]
    # After MPI_Finalize the block is gone; a later session of MPI has another.
    os.pwrite(memory.descriptor, bytes(4096), 3 * _ALIGNMENT)
    assert looked() == []
    memory.write(5, rank=4)
    assert [rank.block.rank for rank in node.look() if rank.pid == os.getpid()] == [4]


@pytest.mark.parametrize(
    ("sign", "wait"),
    [
        ((2, 2, 7, 50, 0, 0, 0, 0, 0, b""), ShownWait("fence", "number 7", 50, (), False)),
        ((2, 2, 0, 50, 0, 0, 0, 0, 0, b""), ShownWait("fence", "", 50, (), False)),
        ((2, 2, 7, 0, 8, 9, 0, 0, 1, b"w"), None),  # over
        ((3, 2, 7, 50, 8, 9, 0, 0, 1, b"w"), None),  # killed while it wrote
        ((2, 99, 7, 50, 8, 9, 0, 0, 1, b"w"), None),
    ],
)
def test_signs(memory, sign, wait):
    memory.write(0, sign=sign)
    (block,) = looked()
    assert block.wait == wait


def test_calls_and_since_when_there_was_none(memory):
    memory.write(0, calls=(7, 8192, 50, 7))
    assert looked()[0].calls == CallCounts(7, 8192, 50)
    memory.write(0, calls=(8, 8192, 50, 7))  # another one since
    assert looked()[0].calls == CallCounts(8, 8192, 0)


def test_another_version(memory, capsys):
    memory.write(0, version=_VERSION + 1)
    assert command(["top", "--once", str(os.getpid())]) == 1
    assert "runs with another version of Oriel" in capsys.readouterr().err
    assert os.getpid() not in [rank.pid for rank in NodeRanks(None).look()]


def test_a_forked_child_is_no_rank(memory):
    memory.write(0)
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    try:
        assert len(looked()) == 1
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_what_cannot_be_seen(memory, monkeypatch, capsys):
    assert command(["top", "--once", str(os.getpid())]) == 1
    assert "has a window of Oriel's at the moment" in capsys.readouterr().err

    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(node_ranks, "shared_file", refuse)
    with pytest.raises(TopError, match="it belongs to another user"):
        NodeRanks(os.getpid())
    assert NodeRanks(None).look() == []
    with pytest.raises(SystemExit):
        command(["top", "--interval", "0"])


def test_a_later_process_of_the_same_number_is_another(monkeypatch):
    processes = {7: node_ranks._Process(0, "S", 100, 0)}
    monkeypatch.setattr(node_ranks, "_processes", lambda: processes)
    monkeypatch.setattr(node_ranks, "shared_file", lambda pid: None)
    ranks = NodeRanks(7)
    assert not ranks.ended()
    processes[7] = processes[7]._replace(started=200)
    assert ranks.ended()


def test_ranks_are_found_by_way_of_others(monkeypatch):
    """Each has windows with the next one alone. The last one is another job's."""
    windows = {1: {10, 20}, 2: {10, 20, 30}, 3: {20, 30, 40}, 4: {30, 40}, 5: {50}}
    processes = {pid: node_ranks._Process(0, "S", pid, 0) for pid in windows}
    monkeypatch.setattr(node_ranks, "_processes", lambda: processes)
    monkeypatch.setattr(node_ranks, "shared_file", lambda pid: SharedFile(pid, "", 10 * pid))
    monkeypatch.setattr(node_ranks, "mapped_inodes", windows.__getitem__)
    assert [file.pid for file in NodeRanks(1)._files(processes)] == [1, 2, 3, 4]
