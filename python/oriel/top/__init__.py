# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a node are doing, from the shared memory that they already have."""
