# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel` and what it shares with the tests."""

__version__ = "0.1.0"
