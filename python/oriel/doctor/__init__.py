# SPDX-License-Identifier: BSD-3-Clause
"""What `oriel doctor` examines: this machine, its MPIs, and the paths between ranks."""
