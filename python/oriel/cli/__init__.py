# SPDX-License-Identifier: BSD-3-Clause
"""The commands, by name; nothing else imports them."""
