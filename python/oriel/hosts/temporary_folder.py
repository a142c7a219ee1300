# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders that do not outlive killed processes for long."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import tempfile
from pathlib import Path


def _lock(folder: Path, waiting: bool) -> int | None:
    """A descriptor with the folder's lock, which the kernel releases when this process ends, in
    whatever way. None: the folder is not there, or, unless `waiting`, another process has it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waiting else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
            return descriptor
    except OSError:  # locked, gone, or on a file system without locks
        pass
    os.close(descriptor)
    return None


def _remove_left(folder: Path) -> None:
    descriptor = _lock(folder, waiting=False)
    if descriptor is None:
        return
    if os.fstat(descriptor).st_uid == os.geteuid():
        shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)


class TemporaryFolder:
    """A folder, gone at the end of the block. If the process is killed within the block, the next
    one of this machine that makes such a folder removes it. Making it raises OSError where no file
    can be made."""

    def __init__(self, kind: str) -> None:
        # Other machines may have the same folder of temporary files, and locks of their own.
        prefix = f"oriel-{kind}-{socket.gethostname()}-"
        for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            _remove_left(left)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix))
            self._descriptor = _lock(self.path, waiting=True)
            # Without a lock yet it may have looked like one that is left.
            if self._descriptor is not None or self.path.is_dir():
                break

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._descriptor is not None:
            os.close(self._descriptor)
