# SPDX-License-Identifier: BSD-3-Clause
"""From addresses to functions and lines, by addr2line of the GNU binutils."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from oriel.wait_states.record import Place, Site

_LIMIT_SECONDS = 60
# Of a call site: a function that only passes a call on is told with the one that calls it.
_MOST_CALLERS = 2


class Caller(NamedTuple):
    """A function of the program. `line` 0: not known; `file` is then the executable or library,
    with the offset in it."""

    function: str
    file: str
    line: int


def callers_of(sites: Iterable[Site]) -> dict[Site, tuple[Caller, ...]]:
    """The innermost first."""
    sites = list(sites)
    callers = _callers_of({place for site in sites for place in site.callers})
    return {
        site: _of_program([caller for place in site.callers for caller in callers[place]])
        for site in sites
    }


def _of_program(callers: list[Caller]) -> tuple[Caller, ...]:
    """Main is called by the C library."""
    main = bool(callers) and callers[0].function == "main"
    return tuple(callers[: 1 if main else _MOST_CALLERS])


def in_words(callers: Iterable[Caller]) -> str:
    return ", called by ".join(map(_in_words, callers))


def _in_words(caller: Caller) -> str:
    where = f"{caller.file}:{caller.line}" if caller.line else caller.file
    return f"{caller.function} at {where}" if caller.function else where


def changed_since(sites: Iterable[Site], time: float) -> list[str]:
    """Files of the program that have been written since: their lines may have moved."""
    files = {Path(place.file) for site in sites for place in site.callers}
    return sorted(file.name for file in files if file.is_file() and file.stat().st_mtime > time)


def _callers_of(places: Iterable[Place]) -> dict[Place, list[Caller]]:
    """Of each place the function, behind those that the compiler has put into it."""
    by_file: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        by_file[place.file].append(place)
    names = {}
    for file, its in by_file.items():
        answers = _ask(file, [place.offset for place in its])
        for place in its:
            found = [_caller(*pair) for pair in answers.get(int(place.offset, 16), [])]
            names[place] = list(filter(None, found)) or [_unresolved(place)]
    return names


def _caller(function: str, where: str) -> Caller | None:
    file, _, line = where.partition(" ")[0].rpartition(":")  # without a discriminator
    if file.startswith("??") or not line.isdigit() or line == "0":
        return None
    # Without parameters and arguments: (anonymous namespace) is no list of these.
    short = re.sub(r"(?<!^)(?<!:)[(<].*", "", function)
    return Caller(short, Path(file).name, int(line))


def _unresolved(place: Place) -> Caller:
    return Caller(place.function, f"{Path(place.file).name}+0x{place.offset}", 0)


def _ask(file: str, offsets: list[str]) -> dict[int, list[tuple[str, str]]]:
    """(function, file:line) of each offset, the innermost of inlined ones first; empty where there
    is no addr2line, or nothing to be read."""
    if shutil.which("addr2line") is None or not Path(file).is_file():
        return {}
    command = ["addr2line", "-a", "-C", "-f", "-i", "-e", file, *offsets]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[int, list[tuple[str, str]]] = {}
    lines = iter(answer.stdout.splitlines())
    pairs: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("0x"):
            pairs = found.setdefault(int(line, 16), [])
        else:
            pairs.append((line, next(lines, "")))
    return found
