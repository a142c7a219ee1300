# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks that `oriel paper` runs, with arguments for which all of them take less than an
hour on two cores with three host MPIs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperRun:
    name: str  # also of its folder
    command: Sequence[str]  # behind `oriel`
    seconds: int  # about, with three hosts on two cores
    words: Sequence[str] = ()  # for the full run
    quick_words: Sequence[str] = ()
    quick_seconds: int = 10
    nodes: int = 1
    results: str = ""  # its JSON file

    def arguments(self, quick: bool) -> list[str]:
        """Behind `oriel`: what a reader repeats."""
        words = ("--quick", *self.quick_words) if quick else self.words
        hosts = ("--hosts", str(self.nodes)) if self.nodes > 1 else ()
        return [*self.command, *words, *hosts]

    @property
    def file(self) -> str:
        return self.results or f"{self.command[-1]}.json"


def _bench(subject: str, seconds: int, words: str = "", **others) -> PaperRun:
    nodes = others.get("nodes", 1)
    name = subject if nodes == 1 else f"{subject}-nodes"
    return PaperRun(name, ("bench", subject), seconds, words.split(), **others)


# The sizes of the paper's text among them.
_EXCHANGES = "8,512,8192,32768,131072,1048576,2097152"

RUNS = (
    PaperRun(
        "patterns",
        ("demo",),
        110,
        ("--iterations", "50"),
        results="results.json",
        quick_seconds=20,
    ),
    _bench("transactions", 100, "-n 2,4,8 --rounds 2 --batches 5", quick_words=("-n", "2,4")),
    _bench("transactions", 60, "-n 2,4 --rounds 1 --batches 5", quick_words=("-n", "2"), nodes=2),
    _bench("lu", 150, "--rounds 2", quick_words=("-n", "2")),
    _bench("halo", 80, "--rounds 3"),
    _bench("halo", 80, "--rounds 3", nodes=2),
    _bench("notify", 200, "--rounds 1"),
    _bench("notify", 100, "--rounds 1", nodes=2),
    _bench("stencil", 90, "--rounds 3"),
    _bench("tree", 60, "--rounds 3"),
    _bench("cholesky", 40, "--rounds 3"),
    _bench("windows", 110, "--rounds 1"),
    _bench("progress", 70, "--rounds 1"),
    _bench("threads", 90, "--rounds 1"),
    _bench(
        "alltoallv",
        120,
        f"-n 2,4,8 --bytes {_EXCHANGES} --rounds 1 --batches 5",
        quick_words=("-n", "2,4", "--bytes", "8,32768"),
    ),
    _bench("sparse", 90, "--rounds 1 --batches 5", quick_words=("-n", "4")),
)
BY_NAME = {run.name: run for run in RUNS}
