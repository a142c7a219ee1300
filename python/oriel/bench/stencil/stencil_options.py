# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench stencil`."""

from __future__ import annotations

import argparse

from oriel.bench import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_rank_series(parser)
    options.add_repetition(parser, rounds=10, batches=5)
    options.add_numbers(
        parser,
        ("--rows", 1280, "rows of the domains"),
        ("--columns-per-rank", 1280, "columns of each rank in the domain of the weak scaling"),
        ("--columns", 12800, "columns in all in the domain of the strong scaling"),
        ("--iterations", 2, "iterations of one batch"),
        ("--limit-s", 10, "seconds after which a run begins no batch of a variant and domain"),
    )
