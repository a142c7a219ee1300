# SPDX-License-Identifier: BSD-3-Clause
"""Whether the library has been in the ranks of a run.

Each step of a rank leaves an empty file in a folder that belongs to this run alone: `began` before
the program is started, `loaded` when the loader has put the library into a process, `mpi` when such
a process has started MPI, `passed by` when one has ended that started MPI without the library
(src/mpi/startup/startup_calls.cpp). A rank on another machine may find no such folder; without
`began`, the absence of the others says nothing.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from oriel.hosts.temporary_folder import TemporaryFolder

# With this exit status env and timeout, too, say that it was not the program which failed.
WITHOUT_ORIEL = 125


def _is_script(program: str) -> bool:
    try:
        with open(shutil.which(program) or program, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:  # a program may be executed without being readable
        return False


class LoadReport:
    """The folder, gone at the end of the block. Making it raises OSError where no file can be
    made."""

    def __init__(self) -> None:
        self._temporary = TemporaryFolder("run")
        self.folder = self._temporary.path

    def __enter__(self) -> LoadReport:
        return self

    def __exit__(self, *ended) -> None:
        self._temporary.__exit__(*ended)

    def environment(self) -> dict[str, str]:
        """What the library needs to know."""
        return {"ORIEL_LOAD_REPORT": str(self.folder)}

    def begin(self) -> list[str]:
        """What to put before the command of a rank, and before what sets LD_PRELOAD for it."""
        # Without a folder the shell goes on: `true` is no special builtin.
        return ["sh", "-c", 'true 2>/dev/null >"$0/began"; exec "$@"', str(self.folder)]

    def _has(self, step: str) -> bool:
        return (self.folder / step).exists()

    def verdict(self, program: str, library: Path) -> tuple[int, str]:
        """The exit status of a run with Oriel that ended well, and a sentence if the program ran
        without it. Ranks that could not report are not judged."""
        if self._has("began") and not self._has("loaded"):
            return WITHOUT_ORIEL, (
                f"{program} ran without Oriel: the loader did not load {library} into it. Into a "
                "program that is statically linked or setuid nothing can be preloaded: link it "
                "dynamically, or with Oriel."
            )
        if self._has("passed by"):
            return WITHOUT_ORIEL, (
                f"{program} ran without Oriel: it takes MPI's functions from the MPI library's own "
                "handle (dlsym, as ctypes, cffi and Julia do), where Oriel's are not found. Let it "
                "take them from the process (dlopen without a name, as ctypes.CDLL(None)), where "
                "Oriel's come first, or link it."
            )
        if self._has("loaded") and not self._has("mpi") and _is_script(program):
            return 0, (
                f"The script {program} was started with Oriel, but no process that has Oriel in it "
                "started MPI. If it starts an MPI program, that ran without Oriel: leave "
                "LD_PRELOAD in its environment, and link it dynamically."
            )
        return 0, ""
