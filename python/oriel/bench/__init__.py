# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench`: each benchmark's program started in rounds, its times and its figure."""
