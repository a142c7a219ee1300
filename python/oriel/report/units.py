# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as people write them."""

from __future__ import annotations


def size_text(size: int) -> str:
    if size >= 1 << 20:
        return f"{size >> 20} MB"
    return f"{size >> 10} KB" if size >= 1024 else f"{size} B"
