# SPDX-License-Identifier: BSD-3-Clause
"""G7: an error of an object that has no error handler, or of no object, goes where the host sends
it: alone and with Oriel, the same handlers are called and the same calls end the job."""

from __future__ import annotations

import re

from conftest import Job, folder_of

# Of each host the handlers that are set, and the number of the last wrong call that is made. Where
# the host calls no handler that returns, each call ends a job of its own: of Open MPI few windows
# are tried.
ALL = 10_000
OBJECTLESS = 22
SETTINGS = {
    "mpich": {"w": ALL, "wsd": ALL, "s": 2, "wf": 2, "-": 1},
    "openmpi": {"w": 2, "wsd": OBJECTLESS},
    "intel": {"w": ALL, "wsd": ALL},
}


def answers(job: Job, host, handlers: str, last: int) -> dict[str, str]:
    """The handlers that each wrong call has called, by its name."""
    found: dict[str, str] = {}
    first = 0
    while first <= last:
        words = [folder_of(host) / "default_errhandlers", handlers, first]
        words += [last] if last != ALL else []
        _, output = job.run_command(host, [str(word) for word in words], 1)
        lines = re.findall(r"^case (\d+), ([^:\n]*):((?: \w of \w+)*)(\.?)", output, re.MULTILINE)
        assert lines or "through" in output, output
        for number, name, called, end in lines:
            found[name] = called.strip() or "none" if end else "ends the job"
            first = int(number) + 1
        if "through" in output:
            break
    return found


def test_they_are_the_hosts(host):
    for handlers, last in SETTINGS[host.name].items():
        alone = answers(Job(True, False), host, handlers, last)
        assert len(alone) >= min(last + 1, 30), alone
        with_oriel = answers(Job(False, False), host, handlers, last)
        assert with_oriel == alone, handlers
