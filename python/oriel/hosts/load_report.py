# SPDX-License-Identifier: BSD-3-Clause
"""Whether the library has been in the ranks of a run.

Each step of a rank leaves an empty file in a folder that belongs to this run alone: `began` before
the program is started, `loaded` when the loader has put the library into a process, `mpi` when such
a process has started MPI (src/boundary/startup/load_report.cpp). A rank on another machine may find
no such folder; without `began`, the absence of the others says nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path


class LoadReport:
    """The folder, gone at the end of the block."""

    def __enter__(self) -> LoadReport:
        self.folder = Path(tempfile.mkdtemp(prefix="oriel-"))
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """What the library needs to know."""
        return {"ORIEL_LOAD_REPORT": str(self.folder)}

    def begin(self) -> list[str]:
        """What to put before the command of a rank, and before what sets LD_PRELOAD for it."""
        # Without a folder the shell goes on: `true` is no special builtin.
        return ["sh", "-c", 'true 2>/dev/null >"$0/began"; exec "$@"', str(self.folder)]

    def _has(self, step: str) -> bool:
        return (self.folder / step).exists()

    def never_loaded(self) -> bool:
        """Ranks that could report have started a program, and none of them loaded the library."""
        return self._has("began") and not self._has("loaded")

    def never_started_mpi(self) -> bool:
        """The library was loaded, but by no process that started MPI."""
        return self._has("loaded") and not self._has("mpi")
