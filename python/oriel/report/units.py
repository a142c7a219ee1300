# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and times as people write them."""

from __future__ import annotations


def size_text(size: int) -> str:
    if size >= 1 << 20:
        return f"{size >> 20} MB"
    return f"{size >> 10} KB" if size >= 1024 else f"{size} B"


def memory_text(size: int) -> str:
    """To three digits, of amounts that are no powers of two."""
    for unit, power in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):.{0 if size >= 100 << power else 1}f} {unit}"
    return f"{size} B"


def time_text(us: float | None) -> str:
    """Without the unit; a dash where nothing was measured."""
    if us is None:
        return "–"
    if us < 10:
        return f"{us:.3f}"
    return f"{us:.1f}" if us < 1000 else f"{us:,.0f}"


def ratio_text(ours: float | None, theirs: float | None) -> str:
    return f"{ours / theirs:.2f}" if ours and theirs else "–"
