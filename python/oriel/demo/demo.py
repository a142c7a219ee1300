# SPDX-License-Identifier: BSD-3-Clause
"""`oriel demo`: measures what late peers cost, by the MPI library alone, with Oriel, and with
Oriel's nonblocking epochs. It prints tables and draws figures. The patterns are the microbenchmarks
of the paper "Nonblocking Epochs in MPI One-Sided Communication"."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from pathlib import Path

from oriel.demo.patterns import PATTERNS
from oriel.hosts.mpi_option import add_mpis_option


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oriel demo", description=__doc__)
    add_mpis_option(parser, "", "mpich if it is there")
    parser.add_argument(
        "--iterations",
        type=int,
        default=100,
        metavar="N",
        help="how often each pattern is played each way (default: 100)",
    )
    parser.add_argument(
        "--pattern",
        action="append",
        choices=[pattern.name for pattern in PATTERNS],
        help="only this pattern; give it again for more",
    )
    parser.add_argument(
        "--hosts",
        type=int,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes made of network namespaces of this machine (takes "
        "root; default: 1, this machine itself)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/demo"),
        metavar="FOLDER",
        help="where tables, figures and results go (default: build/demo)",
    )
    return parser


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = make_parser()
    arguments = parser.parse_args(argv)
    if arguments.iterations < 1:
        parser.error("--iterations takes a number above 0.")
    return arguments


def main(argv: list[str]) -> int:
    arguments = _arguments(argv)
    # So that a demo that is ended from outside ends its jobs as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # It takes packages that the parser does without.
    return importlib.import_module("oriel.demo.measurement").run(arguments)
