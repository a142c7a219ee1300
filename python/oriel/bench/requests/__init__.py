# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks of persistent collectives share: options, times and tables."""
