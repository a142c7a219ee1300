# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on one machine, to run an MPI program across them: Linux network namespaces with
host names and addresses of their own, joined by a bridge in one more namespace. Takes root.

with Nodes(2) as nodes:
    argv, environment = host.command(4, ["./stencil"], nodes=nodes)
"""

from __future__ import annotations

import contextlib
import copy
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

# Stands in for ssh towards these nodes; the launchers of all MPIs take one.
RSH = Path(__file__).with_name("rsh-node")

# ip-netns binds the files of /etc/netns/NAME over those of /etc inside the namespace.
_ETC = Path("/etc/netns")
# Where it keeps the namespaces themselves.
_MOUNTED = Path("/run/netns")

# Of the nodes' TCP. BBR, which some systems have, sends at a pace that it estimates, and a cable
# made of memory misleads it: a program takes a time or three times that, run by run. Every kernel
# has reno, and it leaves the pace to the program.
CONGESTION_CONTROL = "reno"


class NodesError(Exception):
    """A sentence for the user: why there cannot be several nodes here."""


def _run(*words: str) -> None:
    answer = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if answer.returncode != 0:
        raise NodesError(f"`{' '.join(words)}` failed: {answer.stderr.strip()}.")


def _ip(*words: str) -> None:
    _run("ip", *words)


def _set(namespace: str, setting: str, value: str) -> None:
    script = f"echo {value} >/proc/sys/{setting}"
    _run("ip", "netns", "exec", namespace, "sh", "-c", script)


def _kill(namespace: str, program: Path | None = None) -> None:
    """Ends the processes in a namespace by SIGKILL: those of a program, or all."""
    words = ["ip", "netns", "pids", namespace]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    network = os.stat(_MOUNTED / namespace)
    for pid in answer.stdout.split():
        folder = Path("/proc", pid)
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            process = os.pidfd_open(int(pid))
            try:
                # Its number may have gone to somebody else's process since it was listed.
                ours = os.path.samestat(os.stat(folder / "ns" / "net"), network)
                if ours and program in (None, (folder / "exe").resolve()):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            finally:
                os.close(process)


def why_not() -> str:
    """Empty where nodes can be made, else a sentence."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "There is no ip or unshare command; install iproute2 and util-linux."
    if os.geteuid() != 0:
        return "Network namespaces take root here; start the command as root."
    try:
        with Nodes(1):
            return ""
    except (NodesError, OSError, subprocess.SubprocessError) as error:
        return f"This system does not let us make network namespaces ({error})"


@contextlib.contextmanager
def across(count: int) -> Iterator[Nodes | None]:
    """So many nodes, or None for one: the machine as it is."""
    if count == 1:
        yield None
        return
    if reason := why_not():
        raise NodesError(reason)
    with Nodes(count) as nodes:
        yield nodes


class Nodes:
    """`count` nodes named node0, node1, ..., gone at the end of the block. Names of namespaces and
    addresses are drawn by lot, so that several blocks do not meet, whoever made them."""

    def __init__(self, count: int):
        self.count = count
        number = secrets.randbits(32)
        self._tag = f"or{number:08x}"
        self._subnet = f"10.{64 + number // 250 % 64}.{number % 250}"
        # Where the bridge is, and the nodes' cables end: not among the machine's own interfaces,
        # which launchers list.
        self._switch = f"{self._tag}-switch"
        # The namespaces that this block has made: what is in others is not ours to end.
        self._made: list[str] = []

    @property
    def names(self) -> list[str]:
        return [f"node{i}" for i in range(self.count)]

    def first(self, count: int) -> Nodes:
        """The same nodes, of which only the first `count` are used."""
        some = copy.copy(self)
        some.count = count
        return some

    def namespace(self, index: int) -> str:
        return f"{self._tag}-{index}"

    def address(self, index: int) -> str:
        return f"{self._subnet}.{index + 1}"

    def environment(self) -> dict[str, str]:
        """What rsh-node needs to know."""
        return {"ORIEL_NODES": self._tag}

    def inside(self, index: int) -> list[str]:
        """What to put before a command to run it on a node."""
        return [str(RSH), self.names[index], "--"]

    def __enter__(self) -> Nodes:
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._remove()

    def cut_off(self, index: int) -> None:
        """Nothing reaches the node any more, and nothing leaves it."""
        _ip("-n", self._switch, "link", "set", f"node{index}", "down")

    def kill(self, index: int, program: Path) -> None:
        """Ends the processes of this program on a node by SIGKILL, and nothing else there."""
        _kill(self.namespace(index), program.resolve())

    def _add(self, namespace: str) -> None:
        # Where the name is taken, what is in the namespace is not ours to end.
        _ip("netns", "add", namespace)
        self._made.append(namespace)

    def _make(self) -> None:
        self._add(self._switch)
        _ip("-n", self._switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "bridge", "up")
        lines = ["127.0.0.1 localhost"]
        lines += [f"{self.address(i)} {name}" for i, name in enumerate(self.names)]
        for index in range(self.count):
            namespace, cable = self.namespace(index), f"node{index}"
            self._add(namespace)
            peer = ("peer", "name", "eth0", "netns", namespace)
            _ip("-n", self._switch, "link", "add", cable, "type", "veth", *peer)
            _ip("-n", self._switch, "link", "set", cable, "master", "bridge", "up")
            _ip("-n", namespace, "addr", "add", f"{self.address(index)}/24", "dev", "eth0")
            _ip("-n", namespace, "link", "set", "eth0", "up")
            _ip("-n", namespace, "link", "set", "lo", "up")
            _set(namespace, "net/ipv4/tcp_congestion_control", CONGESTION_CONTROL)
            folder = _ETC / namespace
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "hosts").write_text("\n".join(lines) + "\n")

    def _remove(self) -> None:
        for namespace in self._made:
            _kill(namespace)  # a namespace lives as long as a process is in it
            with contextlib.suppress(NodesError):
                _ip("netns", "del", namespace)
            shutil.rmtree(_ETC / namespace, ignore_errors=True)
