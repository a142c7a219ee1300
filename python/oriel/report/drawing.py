# SPDX-License-Identifier: BSD-3-Clause
"""What all figures have in common: colours, title, legend, and how they are saved."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator  # noqa: E402

INK = "#22303c"
MUTED = "#6b7885"
GRID = "#e3e8ec"
# Distinguishable in grey and with any colour vision: light to dark.
COLOURS = {
    "host": "#b8c2cc",
    "blocking": "#e0a03b",
    "nonblocking": "#14648c",
    "off": "#e0a03b",
    "on": "#14648c",
}
DASHES = (0, (2, 1))
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": INK,
    "ytick.color": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "svg.hashsalt": "oriel",
}


_LETTERS_PER_INCH = 16  # of the line that says where


def ranks_on(ranks: int, nodes: int) -> str:
    return f"{ranks} ranks on {'one node' if nodes == 1 else f'{nodes} nodes'}"


def logarithmic(axes: Axes) -> None:
    """The vertical axis, with plain numbers at 1, 2 and 5."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()


def label_bars(
    axes: Axes, labels: Iterable[tuple[float, float, str]], size: float = 6.5, gap: int = 2, **how
) -> None:
    """Writes above each bar, which stands at a place and has a height, its text."""
    for place, height, text in labels:
        axes.annotate(
            text,
            (place, height),
            xytext=(0, gap),
            textcoords="offset points",
            ha="center",
            fontsize=size,
            color=INK,
            **how,
        )


def title(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.015, ha="left", fontsize=13, fontweight="bold")


def legend(figure: Figure, handles: Iterable, labels: Iterable[str], columns: int, where: str = ""):
    """Below the panels; `where` says on what machine."""
    drawn = figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=9,
        handlelength=1.2,
        columnspacing=1.4,
        title=textwrap.fill(where, int(_LETTERS_PER_INCH * figure.get_figwidth())) or None,
        title_fontsize=7.5,
        alignment="left",
    )
    drawn.get_title().set_color(MUTED)


def save(figure: Figure, path: Path) -> None:
    """Writes `path` (PNG) and its SVG."""
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)
