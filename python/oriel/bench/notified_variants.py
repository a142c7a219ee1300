# SPDX-License-Identifier: BSD-3-Clause
"""How a program tells a target that its data is there, in `oriel bench stencil`, `wavefront` and
`tree`: what these ways are called and how they are drawn."""

from __future__ import annotations

from oriel.bench.variant_times import MESSAGES
from oriel.bench.ways import HOST, ORIEL
from oriel.report.drawing import COLOURS, INK

NOTIFY = "notify"
GET_NOTIFY = "get_notify"
# Beside the messages.
TITLES = {
    "fence": "fence",
    "post_start": "pscw",
    "flag": "flag",
    NOTIFY: "notify",
    GET_NOTIFY: "notified get",
}
LEGEND = (
    "pscw: post, start, complete, wait. notify: notified puts. notified get: the consumer fetches "
    "what the producer has announced."
)

STYLES = {
    MESSAGES: {"color": INK, "marker": "s", "linewidth": 1.8},
    "fence": {"color": COLOURS["host"], "marker": "D", "linewidth": 1.8},
    "post_start": {"color": COLOURS["blocking"], "marker": "^", "linewidth": 1.8},
    "flag": {"color": "#7fb4d0", "marker": "X", "linewidth": 1.8},
    GET_NOTIFY: {"color": "#5f9e6e", "marker": "P", "linewidth": 1.8},
    NOTIFY: {"color": COLOURS["nonblocking"], "marker": "o", "linewidth": 2.8},
}


def ways(variant: str) -> tuple[str, ...]:
    """A host alone has no notified access."""
    return (ORIEL,) if variant in (NOTIFY, GET_NOTIFY) else (HOST, ORIEL)
