# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of this machine, the nodes made of it, and jobs on both."""
