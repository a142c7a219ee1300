# SPDX-License-Identifier: BSD-3-Clause
"""One thing that was examined, and what follows from it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable

MACHINE = "this machine"
# Subjects of the jobs of the self-test.
ONE_NODE, TWO_NODES = "one node", "two nodes"


class State(str, enum.Enum):
    """`limited`: it works, but slowly or not for everything. `unknown`: it was not examined."""

    OK = "ok"
    LIMITED = "limited"
    FAILS = "fails"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Finding:
    """`about`: the machine, or an MPI. `sentence` says what a program sees of it, `advice` what to
    change; both are empty if all is well."""

    about: str
    subject: str
    found: str
    state: State = State.OK
    sentence: str = ""
    advice: str = ""


def any_fails(findings: Iterable[Finding]) -> bool:
    return any(finding.state is State.FAILS for finding in findings)
