# SPDX-License-Identifier: BSD-3-Clause
"""What results must say about where they come from."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def commit() -> str | None:
    """The source tree's commit, with a mark where files differ from it; None outside a clone."""
    try:
        found = subprocess.run(
            ["git", "-C", SOURCES, "describe", "--always", "--abbrev=40", "--dirty"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def description() -> dict:
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
    }
