# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the documentation: those of every public name, and those of docs/python.md."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import oriel
from mpi4py import MPI
from oriel.rma.prototypes import PROTOTYPES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"
# An operation that returns no request keeps no buffer: an array without a name is freed at once.
UNNAMED = re.compile(
    r"\b\w+\.(?:Put|Get|Accumulate|Get_accumulate)\(np\."
    r"|\boriel\.(?:Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap)_notify\w*"
    r"\(\w+, np\."
)


@contextlib.contextmanager
def window(comm: MPI.Intracomm) -> Iterator[dict[str, object]]:
    """The names that examples use, as oriel.rma describes them."""
    memory = np.zeros(8)
    win = MPI.Win.Create(memory, disp_unit=8, comm=comm)
    yield {
        "MPI": MPI,
        "np": np,
        "oriel": oriel,
        "comm": comm,
        "rank": comm.rank,
        "peer": 1 - comm.rank,
        "memory": memory,
        "win": win,
    }
    win.Free()


def run_example(text: str, name: str, comm: MPI.Intracomm) -> None:
    """What is wrong is an assertion."""
    find_unnamed_buffers(text, name)
    said: list[str] = []
    with window(comm) as names:
        test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
        assert test.examples, f"{name} has no example"
        result = doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
        assert result.failed == 0, "".join(said)


def find_unnamed_buffers(text: str, name: str) -> None:
    found = UNNAMED.search(text)
    assert found is None, f"{name}: {found and found.group()}...: give the array a name"


def check_every_public_name(comm: MPI.Intracomm) -> None:
    """Each public function and class has a documentation with an example that holds."""
    for name in dir(oriel):
        value = getattr(oriel, name)
        if name.startswith("_") or not (inspect.isfunction(value) or inspect.isclass(value)):
            continue
        if value.__module__.startswith("oriel.rma"):
            run_example(inspect.getdoc(value) or "", name, comm)


def check_every_call_of_the_table(comm: MPI.Intracomm) -> None:
    """The package has each function of the library, by the name without ORIEL_; one with large
    counts stands for the one without."""
    names = re.findall(r"\bORIEL_(\w+?)(?:_c)?\(", PROTOTYPES)
    assert len(names) > 50
    assert set(names) <= set(dir(oriel)), set(names) - set(dir(oriel))


def check_the_page(comm: MPI.Intracomm) -> None:
    """The programs in docs/python.md run as they stand; each makes its own windows."""
    page = PAGE.read_text(encoding="utf-8")
    find_unnamed_buffers(page, PAGE.name)
    programs = re.findall(r"```python\n(.*?)```", page, re.S)
    assert programs
    for number, program in enumerate(programs):
        exec(compile(program, f"program {number} of {PAGE.name}", "exec"), {})
        comm.Barrier()
