# SPDX-License-Identifier: BSD-3-Clause
"""Options of `oriel bench report`."""

from __future__ import annotations

import argparse

from oriel.bench.options import add_rounds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rounds(parser, 7)
