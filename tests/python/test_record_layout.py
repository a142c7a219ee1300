# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a record is the same in the library and in the command. The compiler checks the
enumerations of the table of events."""

from __future__ import annotations

import re
from pathlib import Path

from oriel.top import wait_table
from oriel.wait_states import record
from oriel.wait_states.event_table import EVENTS, VERSION

SOURCES = Path(__file__).resolve().parents[2] / "src"
# Of a member's type, that of Python's struct.
FORMATS = {
    "std::uint64_t": "Q",
    "std::atomic<std::uint64_t>": "Q",
    "std::uint32_t": "I",
    "std::int32_t": "i",
    "std::uint16_t": "H",
    "std::uint8_t": "B",
    "EventKind": "B",
}


def without_comments(path: Path) -> str:
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


def body(text: str, head: str) -> str:
    """Between the braces of a type, without those of a type in it."""
    found = re.search(rf"{head}[^;{{]*{{((?:[^{{}}]|{{[^{{}}]*}})*)}}", text)
    assert found, head
    return found[1]


def format_of(path: Path, name: str) -> str:
    """Of the members of a struct, as Python's struct has it."""
    letters = ""
    for member in body(without_comments(path), rf"struct {name}\b").split(";"):
        words = re.match(r"\s*(?!static)(std::array<char, (\d+)>|[\w:<>]+) \w+", member)
        if words:
            letters += f"{words[2]}s" if words[2] else FORMATS[words[1]]
    return "<" + letters


def test_structs_have_the_same_layout():
    path = SOURCES / "engine" / "record" / "recorder.hpp"
    assert format_of(SOURCES / "core" / "epoch" / "event.hpp", "Event") == record._ENTRY.format
    assert format_of(path, "RecordHead") == record._HEAD.format
    (head_bytes,) = re.findall(r"size_t bytes = (\d+);", without_comments(path))
    assert int(head_bytes) == record._HEAD_BYTES


def test_more_kinds_are_another_version():
    """A command that does not know a kind takes the record to end there."""
    assert (VERSION, len(EVENTS)) == (5, 29)


def test_waits_have_the_same_words_in_a_stall_and_in_top():
    text = (SOURCES / "engine" / "stalls" / "stall_report.cpp").read_text(encoding="utf-8")
    words = dict(re.findall(r'case WaitReason::(\w+):\s+return "([^"]*)";', text))
    assert {reason: f"waits {which}" for reason, which in words.items()} == wait_table._WAITS
    assert tuple(words) == record.REASONS
