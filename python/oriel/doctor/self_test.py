# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of two ranks that move data by each path: on this machine, and on two nodes made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from oriel.doctor import path_test
from oriel.doctor.finding import ONE_NODE, TWO_NODES, Finding, State
from oriel.doctor.installations import where
from oriel.doctor.path_test import WINDOWS
from oriel.hosts.host import Host, HostError
from oriel.hosts.launcher import SRUN, Launcher
from oriel.hosts.nodes import Nodes

LIMIT_S = 10.0
_RANKS = 2
# A job takes 0.6 to 2 s; one that is ended earlier than this has shown nothing.
_ENOUGH_S = 4.0
_LEAST_S = 0.5
# In what a library says that was built for one node (src/transport/ofi/no_network.cpp).
_NO_HEADERS = "libfabric's headers"
_TOOK_LONG = f"the {LIMIT_S:g} s of the self-test were over; --mpi tests one MPI"

# Shows which step of the examination begins.
ShowStep = Callable[[str], None]


class SelfTest:
    """All jobs together end within LIMIT_S of the first one's start."""

    def __init__(self, show_step: ShowStep, launcher: str | None = None) -> None:
        self._show_step = show_step
        self._launcher = launcher
        self._end: float | None = None

    def run(self, hosts: Sequence[Host], nodes: Nodes | None, why_no_nodes: str) -> list[Finding]:
        """Every host on this machine first, then every host on two nodes."""
        hosts = [host for host in hosts if host.library.is_file() and host.mpi_library()]
        findings = [finding for host in hosts for finding in self._test(host, None)]
        for host in hosts:
            if nodes:
                findings += self._test(host, nodes)
            else:
                findings.append(_not_tested(host, TWO_NODES, why_no_nodes))
        return findings

    def _test(self, host: Host, nodes: Nodes | None) -> list[Finding]:
        layout = TWO_NODES if nodes else ONE_NODE
        try:
            launcher = host.launcher(self._launcher)
        except HostError as error:
            return [_not_tested(host, layout, str(error))]
        if nodes and launcher.name == SRUN:
            return [_not_tested(host, layout, "srun knows no nodes made of network namespaces")]
        if self._end is None:
            self._end = time.monotonic() + LIMIT_S
        left = self._end - time.monotonic()
        if left < _LEAST_S:
            return [_not_tested(host, layout, _TOOK_LONG)]
        self._show_step(f"{host.title}, {layout}")
        rows, reason = path_test.run(host, _RANKS, nodes, left, launcher=launcher)
        if reason and time.monotonic() >= self._end and left < _ENOUGH_S:
            return [_not_tested(host, layout, _TOOK_LONG)]
        if reason:
            return [_failure(host, layout, reason, self._host_fails(host, nodes, launcher))]
        if nodes:
            return [_two_nodes(host, rows)]
        return [*_one_node(host, rows), *_of_the_host(host, rows)]

    def _host_fails(self, host: Host, nodes: Nodes | None, launcher: Launcher) -> bool | None:
        """Whether the same job fails without Oriel, too; None if there is no time to see."""
        left = self._end - time.monotonic()
        if left < _LEAST_S:
            return None
        _, reason = path_test.run(host, _RANKS, nodes, left, False, launcher)
        return None if time.monotonic() >= self._end else bool(reason)


def _not_tested(host: Host, layout: str, reason: str) -> Finding:
    return Finding(where(host), layout, f"not tested: {reason}", State.UNKNOWN)


def _failure(host: Host, layout: str, reason: str, host_fails: bool | None = None) -> Finding:
    advice = {
        None: "If the same job fails with `oriel run --no-oriel`, the MPI itself does not work "
        "here; otherwise see the other findings.",
        True: f"The same job fails without Oriel: make {host.title} work on this machine first.",
        False: "The same job works without Oriel: see the other findings. `ORIEL_DISABLE=1` leaves "
        "windows to the MPI.",
    }[host_fails]
    sentence = f"A job of {_RANKS} ranks on {layout} of {host.title} failed: {reason}."
    return Finding(where(host), layout, "failed", State.FAILS, sentence, advice)


def _of_the_host(host: Host, rows: list[dict]) -> list[Finding]:
    threads = f"up to MPI_THREAD_{rows[0]['threads'].upper()}"
    return [Finding(where(host), "threads", threads), _network(host, rows[0]["network"])]


def _network(host: Host, description: str) -> Finding:
    """What Oriel itself says of the network that it has opened, or why it has none."""
    if " of libfabric " in description:
        return Finding(where(host), "between nodes", description)
    if _NO_HEADERS in description:
        return Finding(
            where(host),
            "between nodes",
            f"built without {_NO_HEADERS}",
            State.FAILS,
            "Windows that span several nodes fail.",
            "Install the headers (Debian: libfabric-dev) and build Oriel again.",
        )
    return Finding(
        where(host),
        "between nodes",
        "no network",
        State.FAILS,
        f"Windows that span several nodes fail: {description or 'Oriel says nothing of one'}.",
        "Install libfabric with the provider of your network, or with tcp; `fi_info` lists what "
        "there is. ORIEL_OFI_LIBRARY and ORIEL_OFI_PROVIDER choose.",
    )


def _arrived(rows: list[dict]) -> bool:
    return all(window["arrived"] for row in rows for window in row["windows"].values())


def _path_text(rows: list[dict], kind: str) -> str:
    """Of rank 0 to the last rank."""
    path = rows[0]["windows"][kind]["path"]
    return path.rpartition(f"rank {_RANKS - 1} ")[2].rpartition(f"to {_RANKS - 1} ")[2]


def _one_node(host: Host, rows: list[dict]) -> list[Finding]:
    if not _arrived(rows):
        return [_wrong_data(host, ONE_NODE)]
    paths = {kind: _path_text(rows, kind) for kind in WINDOWS}
    if not any(paths.values()):
        return [_failure(host, ONE_NODE, "its ranks ran without Oriel")]
    found = "; ".join(f"{call}: {paths[kind]}" for kind, call in WINDOWS.items())
    if paths["allocated"] == "mapped":
        return [Finding(where(host), ONE_NODE, f"data arrived; {found}")]
    return [
        Finding(
            where(host),
            ONE_NODE,
            f"data arrived; {found}",
            State.LIMITED,
            "Ranks of one node do not map each other's memory and communicate as ranks of "
            "different nodes do, which takes about ten times as long or more.",
            "Let the ranks run as one user, in one container, with one /proc that they can read.",
        )
    ]


def _two_nodes(host: Host, rows: list[dict]) -> Finding:
    if not _arrived(rows):
        return _wrong_data(host, TWO_NODES)
    return Finding(where(host), TWO_NODES, f"data arrived; {_path_text(rows, 'allocated')}")


def _wrong_data(host: Host, layout: str) -> Finding:
    return _failure(
        host, layout, "other bytes arrived than were sent, which is an error of Oriel's"
    )
