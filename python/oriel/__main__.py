# SPDX-License-Identifier: BSD-3-Clause
"""`python -m oriel`, and what an installed `oriel` calls."""

import signal
import sys

from oriel.cli import commands


def main() -> int:
    # `oriel info | head` ends quietly, as other commands do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return commands.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
