# SPDX-License-Identifier: BSD-3-Clause
"""p4est's forests of octrees, whose arrays of all ranks are shared windows of libsc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from debian import library, library_path, wrapper
from oriel.hosts.host import Host
from program import INPUTS, Number, Program, Task, compile_once


def _command(host: Host, folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    source = INPUTS / "forest.c"
    libraries = [library(f"lib{name}.so", "libp4est-dev") for name in ("p4est", "sc")]
    words = [wrapper("mpicc", "openmpi"), "-O2", source, *libraries]
    made = compile_once(words, folder / "forest.openmpi", source)
    return [str(made)], library_path(host, folder)


_SAME = (Number("quadrants", 1936, 0), Number("checksum", 2960640989, 0))

PROGRAM = Program(
    "forest",
    "p4est 2.2",
    "Debian, `libp4est-dev`",
    tuple(
        Task(
            "forest with shared windows",
            _command,
            _SAME,
            ranks,
            quick=ranks == 2,
            abis=("openmpi",),
        )
        for ranks in (2, 4)
    ),
)
