# SPDX-License-Identifier: BSD-3-Clause
"""`oriel demo`: the paper's patterns, what was measured, and how it is shown."""
