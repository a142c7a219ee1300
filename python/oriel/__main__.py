# SPDX-License-Identifier: BSD-3-Clause
import signal
import sys

from oriel.cli.commands import main

# `oriel info | head` ends quietly, as other commands do.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
sys.exit(main(sys.argv[1:]))
