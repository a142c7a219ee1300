# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a record and the numbers in it are the same in the library and in the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oriel.top import wait_table
from oriel.wait_states import record

SOURCES = Path(__file__).resolve().parents[2] / "src"
RECORD = SOURCES / "engine" / "record"
OPERATION = SOURCES / "core" / "operation"
# Of a member's type, that of Python's struct.
FORMATS = {
    "std::uint64_t": "Q",
    "std::atomic<std::uint64_t>": "Q",
    "std::uint32_t": "I",
    "std::int32_t": "i",
    "std::uint16_t": "H",
    "std::uint8_t": "B",
    "Kind": "B",
}


def without_comments(path: Path) -> str:
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


def body(text: str, head: str) -> str:
    """Between the braces of a type, without those of a type in it."""
    found = re.search(rf"{head}[^;{{]*{{((?:[^{{}}]|{{[^{{}}]*}})*)}}", text)
    assert found, head
    return found[1]


def constants(path: Path, name: str) -> list[str]:
    words = body(without_comments(path), rf"enum class {name}\b").split(",")
    return [word.strip() for word in words if word.strip()]


def format_of(name: str) -> str:
    """Of the members of a struct, as Python's struct has it."""
    inner = body(without_comments(RECORD / "record_file.hpp"), rf"struct {name}\b")
    letters = ""
    for member in re.sub(r"enum class [^;]*;", "", inner).split(";"):
        words = re.match(r"\s*(?!static)(std::array<char, (\d+)>|[\w:<>]+) \w+", member)
        if words:
            letters += f"{words[2]}s" if words[2] else FORMATS[words[1]]
    return "<" + letters


@pytest.mark.parametrize(
    ("path", "name", "prefix", "names"),
    [
        (RECORD / "record_file.hpp", "Kind", "epoch_", record.KINDS),
        (RECORD / "record_file.hpp", "ServedIn", "", record.SERVED_IN),
        (SOURCES / "core" / "epoch" / "activation.hpp", "EpochKind", "", record.EPOCHS),
        (SOURCES / "core" / "epoch" / "events.hpp", "WaitReason", "", record.REASONS),
        (OPERATION / "operation.hpp", "OperationKind", "", record.OPERATIONS),
        (OPERATION / "protocol.hpp", "Protocol", "", record.PROTOCOLS),
        (SOURCES / "core" / "notify" / "notification.hpp", "NotifyKind", "", record.NOTIFIES),
    ],
)
def test_numbers_have_the_same_meaning(path, name, prefix, names):
    assert tuple(word.removeprefix(prefix) for word in constants(path, name)) == names


def test_structs_have_the_same_layout():
    assert format_of("RecordEntry") == record._ENTRY.format
    assert format_of("RecordHead") == record._HEAD.format
    text = without_comments(RECORD / "record_file.hpp")
    (size,) = re.findall(r"static_assert\(sizeof\(RecordEntry\) == (\d+)", text)
    assert int(size) == record._ENTRY.size
    (head_bytes,) = re.findall(r"size_t bytes = (\d+);", text)
    assert int(head_bytes) == record._HEAD_BYTES
    (version,) = re.findall(r"version = (\d+);", text)
    assert int(version) == record._VERSION


def test_more_kinds_are_another_version():
    """A command that does not know a kind takes the record to end there."""
    assert (record._VERSION, len(record.KINDS)) == (3, 27)


def test_flags_have_the_same_meaning():
    text = without_comments(SOURCES / "boundary" / "events" / "recorder.hpp")
    flags = dict(re.findall(r"std::uint16_t (\w+) = (\d+);", text))
    assert {name: int(value) for name, value in flags.items()} == {
        "used": record.USED,
        "exclusive": record.EXCLUSIVE,
    }


def test_waits_have_the_same_words_in_a_stall_and_in_top():
    text = (SOURCES / "engine" / "stalls" / "stall_report.cpp").read_text(encoding="utf-8")
    words = dict(re.findall(r'case WaitReason::(\w+):\s+return "([^"]*)";', text))
    assert {reason: f"waits {which}" for reason, which in words.items()} == wait_table._WAITS
    assert tuple(words) == record.REASONS
