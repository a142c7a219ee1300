# SPDX-License-Identifier: BSD-3-Clause
"""`oriel paper`: the figures, tables and headline numbers of the five papers, and ours."""
