#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes from the table of events, python/oriel/wait_states/event_table.py, the enumeration of their
kinds and the function that writes an event as text. The build calls it; Python's standard library
is all that it needs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from oriel.wait_states.event_table import (  # noqa: E402
    ENUMERATIONS,
    EVENTS,
    FLAGS,
    FLAGS_VALUE,
    VERSION,
    Event,
)

_MADE = """\
// SPDX-License-Identifier: BSD-3-Clause
// Made from python/oriel/wait_states/event_table.py by generate_events.py; edit the table.
"""


def event_kind() -> str:
    kinds = "".join(f"  {event.name},\n" for event in EVENTS)
    of_timeline = [str(number) for number, event in enumerate(EVENTS) if event.group.of_timeline]
    flags = "".join(
        f"inline constexpr std::uint16_t {name} = {bit};\n" for name, bit in FLAGS.items()
    )
    return f"""{_MADE}#pragma once

#include <cstdint>

namespace oriel {{

enum class EventKind : std::uint8_t {{
{kinds}}};

/// True if only records for a timeline have events of this kind.
constexpr bool of_timeline(EventKind kind) {{
  constexpr std::uint64_t kinds = {" | ".join(f"1ULL << {number}" for number in of_timeline)};
  return (kinds >> static_cast<int>(kind) & 1) != 0;
}}

/// Bits of Event::flags.
namespace event_flag {{
{flags}}}  // namespace event_flag

inline constexpr std::uint32_t record_version = {VERSION};

}}  // namespace oriel
"""


def _word_of(enumeration: str, words: tuple[str, ...]) -> str:
    """The compiler finds an enumerator that the table lacks, or has at another place."""
    cases = "".join(f'    case {enumeration}::{word}:\n      return "{word}";\n' for word in words)
    orders = "".join(
        f"static_assert(static_cast<int>({enumeration}::{word}) == {number});\n"
        for number, word in enumerate(words)
    )
    return f"""{orders}const char* word_of({enumeration} value) {{
  switch (value) {{
{cases}  }}
  return "";
}}
"""


def _text(event: Event) -> str:
    text, values = event.name, []

    def add(named: str, member: str, plain: str, value: str) -> None:
        nonlocal text
        name, *enumeration = named.split()
        text += f" {name}=" + ("%s" if enumeration else plain)
        values.append(f"word_of({enumeration[0]}({member}))" if enumeration else value)

    if event.detail:
        add(event.detail, "event.detail", "%u", "event.detail")
    if event.rank:
        add(event.rank, "", "%d", "event.rank")
    if event.number:
        add(event.number, "", "%llu", "static_cast<unsigned long long>(event.number)")
    if event.id:
        add(event.id, "", "%u", "event.id")
    if event.flags:
        add(event.flags, f"event.flags & {FLAGS_VALUE}", "%u", "event.flags")
    for word in event.words:
        text += "%s"
        values.append(f'(event.flags & event_flag::{word}) != 0 ? " {word}" : ""')
    arguments = "".join(f",\n                           {value}" for value in values)
    return f"""    case EventKind::{event.name}:
      return std::snprintf(text, size, "{text}"{arguments});
"""


def event_text() -> str:
    words = "\n".join(_word_of(*each) for each in ENUMERATIONS.items())
    return f"""{_MADE}#include <cstdio>

#include "core/epoch/activation.hpp"
#include "core/epoch/event.hpp"
#include "core/notify/notification.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {{
namespace {{

{words}
}}  // namespace

int write_text(const Event& event, char* text, std::size_t size) {{
  switch (event.kind) {{
{"".join(map(_text, EVENTS))}  }}
  return 0;
}}

}}  // namespace oriel
"""


def _write(path: Path, text: str) -> None:
    """A file that is as it should be keeps its time: nothing is compiled anew."""
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "event_kind.hpp", event_kind())
    _write(folder / "event_text.cpp", event_text())
