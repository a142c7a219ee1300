# SPDX-License-Identifier: BSD-3-Clause
"""What all tables and figures have in common; knows nothing of what they show."""
