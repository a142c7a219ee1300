# SPDX-License-Identifier: BSD-3-Clause
"""`python -m oriel`, and what an installed `oriel` calls."""

import signal
import sys

from oriel.cli import commands, standard_streams


def main() -> int:
    # `oriel info | head` ends quietly, as other commands do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # A process that ignores this one, as its parent may have, cannot wait for its children.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    standard_streams.set_up()
    try:
        try:
            return commands.main(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except standard_streams.OutputError as error:
        standard_streams.discard_output()
        print(f"oriel: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
