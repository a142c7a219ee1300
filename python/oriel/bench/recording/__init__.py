# SPDX-License-Identifier: BSD-3-Clause
"""`oriel bench report`."""
