# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which a benchmark runs on a host: the host alone, or Oriel on it."""

from __future__ import annotations

HOST = "host"
ORIEL = "oriel"
WAYS = (HOST, ORIEL)
