# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench alltoallv`, and the file in which it keeps what it measures."""
