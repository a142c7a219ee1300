#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes two modules of the Python package from the table of calls and the public headers:
prototypes.py, the prototypes as cffi reads them, and constants.py, the macros.

Both are checked in, because a package of Python is installed without a build. A test compares them
with the table. After a change of the table or of a macro, run this script."""

from __future__ import annotations

import sys
from pathlib import Path

from fortran import Constant, number, ours, read_constants
from table import COLUMNS, HEADERS, TABLE, Fault, Table, break_at_commas

FOLDER = Path(__file__).resolve().parents[3] / "python" / "oriel" / "rma"
MADE = f"Made by src/mpi/calls/{Path(__file__).name} from"
LICENCE = "# SPDX-License-Identifier: BSD-3-Clause"


def prototypes(table: Table) -> str:
    """The module with the prototypes of the calls ORIEL_*, and of their twins. Of a call with large
    counts only that form is there: Python's integers need no other one."""
    calls = ours(table)
    large = {call.name for call in calls if call.large}
    lines = [
        LICENCE,
        f'"""{MADE} {TABLE.name}; edit that table."""',
        "",
        'PROTOTYPES = """\\',
    ]
    for call in calls:
        if f"{call.name}_c" not in large:
            lines += break_at_commas(call.prototype(), COLUMNS, "    ")
    return "\n".join([*lines, '"""', ""])


def constants(sources: list[str]) -> str:
    """The module with the macros that are numbers or strings, by their names without ORIEL_."""
    found = [each for source in sources for each in read_constants(source)]
    # The version of the library in use is what Get_version returns.
    found = [each for each in found if not each.name.startswith("ORIEL_VERSION_")]
    lines = [
        LICENCE,
        f'"""{MADE} the headers in include/oriel; edit those.',
        "",
        "The headers describe the constants: NAME here is the macro ORIEL_NAME there.",
        '"""',
        "",
        "from mpi4py import MPI",
        "",
        "__all__ = [",
        *[f'    "{python_name(each)}",' for each in found],
        "]",
        "",
        *[line for each in found for line in define(each)],
    ]
    return "\n".join([*lines, ""])


def python_name(constant: Constant) -> str:
    return constant.name.partition("_")[2]


def define(constant: Constant) -> list[str]:
    name, value = python_name(constant), constant.value
    if constant.limit:
        choice = f"{value} if MPI.MAX_INFO_KEY > {constant.limit} else {constant.otherwise}"
        return [f"{name} = (", f"    {choice}", ")"]
    text = value if value.startswith('"') else str(number(constant.name, value))
    return [f"{name} = {text}"]


def modules() -> dict[str, str]:
    """The text of each module, by the name of its file."""
    table = Table(TABLE.read_text(encoding="utf-8"))
    included = sorted({call.group.header for call in ours(table)})
    sources = [(HEADERS.parent / name).read_text(encoding="utf-8") for name in included]
    return {"prototypes.py": prototypes(table), "constants.py": constants(sources)}


def main() -> None:
    for name, text in modules().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(f"{Path(__file__).name}: {fault}")
