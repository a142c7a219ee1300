# SPDX-License-Identifier: BSD-3-Clause
"""Options that several benchmarks take."""

from __future__ import annotations

import argparse
from pathlib import Path


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


positive.__name__ = "whole number above 0"  # what argparse says was expected


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hosts",
        type=positive,
        default=1,
        metavar="H",
        help="spread the ranks over H nodes made of network namespaces of this machine (takes "
        "root; default: 1, this machine itself)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/bench"),
        metavar="FOLDER",
        help="where figure and results go (default: build/bench)",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mpi",
        default="all",
        metavar="NAME",
        help="the host MPIs: mpich, openmpi, intel with commas between them, or all (default: "
        "all that are found)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny, to see that everything works")
