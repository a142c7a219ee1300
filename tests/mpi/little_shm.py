# SPDX-License-Identifier: BSD-3-Clause
"""Jobs with a /dev/shm of their own, which is small; they take root."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

from oriel.hosts.host import Host


def with_little_shm(host: Host, mebibytes: int, folder: Path) -> Host:
    """The host, whose jobs have a /dev/shm of this size. `folder`: for what stands for its
    launcher."""
    mount = f"mount -t tmpfs -o size={mebibytes}m tmpfs /dev/shm"
    mpiexec = folder / "mpiexec"
    lines = f'exec unshare --mount sh -c \'{mount} && exec "$0" "$@"\' "{host.mpiexec}" "$@"'
    mpiexec.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    mpiexec.chmod(0o755)
    return dataclasses.replace(host, mpiexec=mpiexec)


def why_no_little_shm() -> str:
    """Empty where with_little_shm() works."""
    words = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"]
    try:
        subprocess.run(words, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        return f"no mount namespaces here: {error}"
    return ""
