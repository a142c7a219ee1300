# SPDX-License-Identifier: BSD-3-Clause
"""`oriel top PID`: what the ranks of a running job are waiting for, now.

PID is that of a rank, or of what has started the job, such as `oriel run` or mpiexec. The ranks on
this machine are shown, with each wait that has lasted for a tenth of a second: for which ranks it
is, on which window, and how long it has lasted; of other ranks how long they have made no call;
calls on windows per second; and ranks that wait for one another. It only reads what the ranks show
one another in shared memory, and does not disturb them.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import sys
import time

from oriel.top.call_rates import CallRates
from oriel.top.node_ranks import NodeRanks, Rank
from oriel.top.process_block import TopError
from oriel.top.wait_table import circle_line, circles, table

_LONGEST_INTERVAL = 86_400.0  # seconds
_FIRST_INTERVAL = 0.2  # before the first table: rates take two looks
# Of a terminal: to the upper left corner; erase to the end of the line; erase what is below.
_HOME, _END_OF_LINE, _BELOW = "\033[H", "\033[K", "\033[J"


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel top",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--once", action="store_true", help="print one table, and end")
    parser.add_argument(
        "--interval",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="between two tables (default: 1)",
    )
    parser.add_argument(
        "pid",
        metavar="PID",
        nargs="?",
        type=int,
        help="process of a rank, or that has started the job (default: all ranks that you may see)",
    )
    return parser


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def _lines(node: NodeRanks, ranks: list[Rank], call_rates: CallRates) -> list[str]:
    now = _now()
    call_rates.look(ranks, now)
    head = f"{len(ranks)} rank{'s' * (len(ranks) != 1)} on {socket.gethostname()}"
    found = circles(ranks)
    if found:
        # The waits were read one after the other. If all are as they were, they were so at once.
        waits = {rank.pid: rank.block.wait for rank in node.look()}
        found = [each for each in found if all(waits.get(r.pid) == r.block.wait for r in each)]
    return [
        f"oriel top: {head}, {time.strftime('%H:%M:%S')}",
        *map(circle_line, found),
        "",
        *table(ranks, now, call_rates),
    ]


def _draw(lines: list[str]) -> None:
    if not sys.stdout.isatty():
        print(*lines, "", sep="\n", flush=True)
        return
    columns, height = shutil.get_terminal_size()
    shown = lines[: height - 1]
    if len(shown) < len(lines):
        shown[-1] = f"... and {len(lines) - len(shown) + 1} more"
    text = "".join(line[:columns] + _END_OF_LINE + "\n" for line in shown)
    print(_HOME + text + _BELOW, end="", flush=True)


def main(argv: list[str]) -> int:
    parser = make_parser()
    given = parser.parse_args(argv)
    if not 0 < given.interval <= _LONGEST_INTERVAL:
        parser.error(
            f"--interval {given.interval}: the time between two tables is more than 0 seconds, and "
            "at most a day."
        )
    node = NodeRanks(given.pid)
    ranks = node.look()
    if not ranks:
        whose = "No process of yours" if given.pid is None else f"No rank of process {given.pid}"
        raise TopError(
            f"{whose} has a window of Oriel's at the moment: they run without Oriel, have made no "
            "window yet, or have ended their MPI. `oriel run --info` says whether a program's "
            "windows are Oriel's."
        )
    call_rates = CallRates()
    call_rates.look(ranks, _now())
    time.sleep(min(_FIRST_INTERVAL, given.interval))
    ranks = node.look()
    while True:
        _draw(_lines(node, ranks, call_rates))
        if given.once:
            return 0
        time.sleep(given.interval)
        if node.ended():
            print(f"Process {given.pid} has ended.")
            return 0
        ranks = node.look()
