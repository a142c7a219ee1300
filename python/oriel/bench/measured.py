# SPDX-License-Identifier: BSD-3-Clause
"""What `oriel bench alltoallv` keeps of its times, by which the library chooses what auto is. Where
the file is and what it says is known by the library alone, which is asked."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from oriel.hosts import advice
from oriel.hosts.host import Host, HostError, prefix
from oriel.report.units import size_text, time_text

_AS_IT_IS = {"encoding": "utf-8", "errors": "surrogateescape"}  # names in it are what they are


@dataclass(frozen=True)
class Exchange:
    """Microseconds of an exchange by the algorithms that auto is one of, and of making its request
    and freeing it. The fields are those of a line, in their order. The last ones are None where
    they were not measured: where nothing is gathered, or an algorithm failed."""

    processor: str
    mpi: str
    ranks: int
    nodes: int
    bytes: int  # from each rank to each
    notified: float
    two_sided: float
    notified_making: float
    two_sided_making: float
    notified_hierarchy: float | None = None
    notified_hierarchy_making: float | None = None
    fence: float | None = None
    fence_making: float | None = None
    lock: float | None = None
    lock_making: float | None = None

    @property
    def key(self) -> tuple:
        return self.processor, self.mpi, self.nodes, self.ranks, self.bytes


@dataclass(frozen=True)
class Measured:
    file: Path | None  # None: nothing is kept
    processor: str
    fault: str  # what is wrong with the file; empty: nothing
    choices: dict[Exchange, str]  # what auto is there

    def on(self, host: Host) -> dict[Exchange, str]:
        """What was measured here with this MPI."""
        here = (self.processor, mpi_name(host))
        return {
            line: choice
            for line, choice in self.choices.items()
            if (line.processor, line.mpi) == here
        }


def mpi_name(host: Host) -> str:
    """What the library calls it, too; the same for both of its ABIs."""
    return f"{host.kind.name} {host.version}"


def read() -> Measured:
    program = prefix() / "bin" / "oriel-measured"
    try:
        answer = subprocess.run([program], capture_output=True, timeout=30, check=True, **_AS_IT_IS)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(
            f"{program}, which knows what was measured, did not run ({error}). {advice.rebuild()}"
        ) from error
    try:
        return told_by(answer.stdout)
    except (ValueError, LookupError, TypeError) as error:
        raise HostError(f"{program} printed what this command does not read ({error}).") from error


def told_by(output: str) -> Measured:
    """What the library's program prints."""
    told = json.loads(output)
    choices = {}
    for line in told["lines"]:
        choice = line.pop("choice")
        choices[Exchange(**line)] = choice
    file = Path(told["file"]) if told["file"] else None
    return Measured(file, told["processor"], told["fault"], choices)


def keep(exchanges: Iterable[Exchange]) -> str:
    """Adds to the file, in place of what was measured before of the same. Says so in a sentence, or
    why it could not: nothing else depends on it."""
    before = read()
    if before.file is None:
        return "The times are not kept for auto: no file is named for them (ORIEL_MEASURED)."
    lines = {line.key: line for line in [*before.choices, *exchanges]}
    names = [field.name for field in fields(Exchange)]
    rows = [f"# {' '.join(names)}; in microseconds, written by oriel bench alltoallv"]
    for _, line in sorted(lines.items()):
        rows.append("\t".join(_text(getattr(line, name)) for name in names))
    try:
        _replace(before.file, "\n".join(rows) + "\n")
    except OSError as error:
        return f"The times are not kept for auto: {error}."
    return f"From now on auto chooses by these times, which are kept in {before.file}."


def _text(value: str | float | None) -> str:
    if value is None:
        return "0"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _replace(path: Path, text: str) -> None:
    """Whoever reads it meanwhile finds all of the old text or all of the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with open(handle, "w", **_AS_IT_IS) as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def choice_lines(known: Measured, host: Host) -> list[str]:
    """Where something was measured: the fastest algorithm, with the times of all."""
    choices = known.on(host)
    if not choices:
        return [
            "oriel_alltoallv=auto times the first starts of each request and keeps the fastest "
            "algorithm, because there are no measurements for this processor. "
            f"`oriel bench alltoallv --mpi {host.name}` adds them."
        ]
    cells = {
        (line.bytes, (line.nodes, line.ranks)): f"{choice} ({_times_text(line)})"
        for line, choice in choices.items()
    }
    layouts = sorted({layout for _, layout in cells})
    rows = [["", *(_layout_text(ranks, nodes) for nodes, ranks in layouts)]]
    for size in sorted({size for size, _ in cells}):
        rows.append([size_text(size), *(cells.get((size, layout), "–") for layout in layouts)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    table = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)) for row in rows]
    return [
        "oriel_alltoallv=auto is, by what was measured (µs of notified, two_sided, "
        "notified_hierarchy, fence, lock):",
        *(f"  {line.rstrip()}" for line in table),
    ]


def _times_text(line: Exchange) -> str:
    times = [line.notified, line.two_sided, line.notified_hierarchy, line.fence, line.lock]
    return ", ".join("–" if time is None else time_text(time) for time in times)


def _layout_text(ranks: int, nodes: int) -> str:
    return f"{ranks} ranks" if nodes == 1 else f"{ranks} ranks on {nodes} nodes"
