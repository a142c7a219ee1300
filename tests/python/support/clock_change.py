# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites records as if their ranks had run on a machine with another clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from oriel.wait_states.record import _ENTRY, _HEAD, _HEAD_BYTES, read_records

# Their places in the head.
_BEGUN, _ENDED, _BOOT = 7, 8, 11


def change_clock(path: Path, boot: bytes, map_time: Callable[[int], int]) -> None:
    """`map_time`: keeps the order of times."""
    data = bytearray(path.read_bytes())
    head = list(_HEAD.unpack_from(data))
    head[_BEGUN], head[_BOOT] = map_time(head[_BEGUN]), boot
    head[_ENDED] = head[_ENDED] and map_time(head[_ENDED])
    _HEAD.pack_into(data, 0, *head)
    for at in range(_HEAD_BYTES, len(data) - _ENTRY.size + 1, _ENTRY.size):
        time, *rest = _ENTRY.unpack_from(data, at)
        if time:
            _ENTRY.pack_into(data, at, map_time(time), *rest)
    path.write_bytes(data)


def change_clock_of_host(
    folder: Path, host: str, boot: bytes, map_time: Callable[[int], int]
) -> None:
    for record in read_records(folder)[0]:
        if record.host == host:
            change_clock(record.path, boot, map_time)
