# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a run waited for, from what each has recorded (docs/design/wait_states.md)."""
