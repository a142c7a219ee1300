# SPDX-License-Identifier: BSD-3-Clause
"""What reads the output of a benchmark finds a table's row, and a sentence, in one line."""

from __future__ import annotations

import pytest
from oriel.report.console import tables_console
from rich.table import Table

CELLS = [f"MPI number {index} of many" for index in range(40)]
SENTENCE = " ".join(CELLS)


@pytest.mark.parametrize("columns", [None, "", "40"])
@pytest.mark.parametrize("term", ["dumb", "xterm", None])
def test_nothing_wraps_without_a_terminal(columns, term, capsys, monkeypatch):
    for name, value in (("COLUMNS", columns), ("TERM", term)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    table = Table(title="of many columns", title_justify="left")
    for index in range(len(CELLS)):
        table.add_column(f"heading of {index}", justify="right")
    table.add_row(*CELLS)
    console = tables_console()
    console.print(table)
    console.print(SENTENCE, highlight=False)
    lines = capsys.readouterr().out.splitlines()
    assert [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines].count(CELLS) == 1
    assert SENTENCE in lines
