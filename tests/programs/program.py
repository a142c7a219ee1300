# SPDX-License-Identifier: BSD-3-Clause
"""What a real program is to `make programs`: the tasks that it is given, how they are prepared, and
the answers that are known."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from oriel.hosts.host import Host

INPUTS = Path(__file__).resolve().parent / "inputs"
COMPILE_SECONDS = 300
# Between nodes of MPICH 5.0's UCX part, a receive from MPI_ANY_SOURCE that begins after the message
# has come never completes; ScaLAPACK receives so. Its libfabric part has no such fault.
BETWEEN_NODES = {"MPICH 5.0": {"MPIR_CVAR_CH4_NETMOD": "ofi"}}


class Missing(Exception):
    """Why a program cannot be run here."""


@dataclasses.dataclass(frozen=True)
class Number:
    """The last number that a program prints behind these words and what is `between`, a regular
    expression."""

    words: str
    value: float
    tolerance: float
    between: str = r"\s*[=:]?\s*"

    def fault(self, output: str) -> str:
        """Why the answer is wrong; empty: it is right."""
        number = r"([-+]?[0-9.]+(?:[eEdD][-+]?[0-9]+)?)"
        found = re.findall(re.escape(self.words) + self.between + number, output)
        if not found:
            return f"it did not print '{self.words}'"
        value = float(found[-1].lower().replace("d", "e"))
        if abs(value - self.value) <= self.tolerance:
            return ""
        return f"'{self.words}' is {value}, not {self.value}"


@dataclasses.dataclass(frozen=True)
class Words:
    """Words that a right program prints."""

    words: str

    def fault(self, output: str) -> str:
        """Why the answer is wrong; empty: it is right."""
        if self.words in output:
            return ""
        return f"it did not print '{self.words}' but: {output[-300:].strip()}"


# Makes the command that each rank runs, in a folder that lasts, and the variables that it needs.
Prepare = Callable[[Host, Path], tuple[Sequence[str], Mapping[str, str]]]


@dataclasses.dataclass(frozen=True)
class Task:
    """One row of the table for each host."""

    title: str
    command: Prepare
    answers: tuple[Number | Words, ...]
    ranks: int
    nodes: int = 1
    quick: bool = False  # also with QUICK=1
    limit_s: float = 120
    abis: tuple[str, ...] = ("mpich", "openmpi")  # for which the program is there
    debian: tuple[str, ...] = ()  # ABIs of which only the distribution's MPI runs it
    # On MPIs whose titles begin so the program fails by a fault of its own, which its notes name.
    fails_on: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Program:
    """`source`: where it comes from, in a table; `notes`: what the table cannot say, such as the
    cause of a failure that is the program's."""

    name: str
    title: str
    source: str
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()


def require(path: Path, package: str) -> Path:
    """A file of a package of the distribution."""
    if not path.exists():
        raise Missing(f"{path} is not there; install {package}")
    return path


def compile_once(words: Sequence[str | Path], made: Path, source: Path) -> Path:
    """A program, made where it is not there or older than its source."""
    if made.exists() and made.stat().st_mtime > source.stat().st_mtime:
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    command = [str(word) for word in (*words, "-o", made)]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
        )
    except OSError as error:
        raise Missing(f"{command[0]} does not run: {error.strerror}") from error
    if ended.returncode != 0:
        raise Missing(f"'{' '.join(command)}' fails: {ended.stderr[-400:].strip()}")
    return made
