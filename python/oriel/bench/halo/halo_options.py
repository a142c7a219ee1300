# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench halo`."""

from __future__ import annotations

import argparse

from oriel.bench import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_rank_number(parser)
    options.add_repetition(parser, rounds=5, batches=9)
