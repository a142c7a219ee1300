# SPDX-License-Identifier: BSD-3-Clause
"""The transfers of persistent collectives in a run that was recorded with ORIEL_TIMELINE."""

from __future__ import annotations

from collections import defaultdict, deque

from oriel.wait_states.channels import Channels
from oriel.wait_states.operations import Operation
from oriel.wait_states.record import TRANSFER_KINDS, Entry
from oriel.wait_states.recorded_run import Run


def first_transfers(run: Run, most: int) -> list[Operation]:
    """So many of all ranks, in the order of time. What a rank receives from another one in a
    collective is matched with what that has sent, in the order of both."""
    transfers: list[Operation] = []
    sending: dict[tuple, deque[Operation]] = defaultdict(deque)
    receipts: Channels[Operation, Entry] = Channels()
    for history, entry in run.in_order(TRANSFER_KINDS):
        window = history.record.windows.get(entry.window)
        if window is None:
            continue
        ends = (window.rank, entry.rank) if entry.detail == "sent" else (entry.rank, window.rank)
        channel = (history.record.timed_by, window.key, entry.id, *ends)
        if entry.kind == "transfer_begun":
            if len(transfers) == most:
                break
            about = {"collective": entry.id, "step": entry.flags}
            target = run.peer(history, window, entry.rank)
            transfer = Operation(
                history, window, "send", entry.time, entry.rank, entry.number, about, target=target
            )
            transfers.append(transfer)
            sending[channel].append(transfer)
            for its, received in receipts.send(channel, transfer):
                _arrive(its, received)
        elif entry.detail == "sent":
            if sending[channel]:
                sent = sending[channel].popleft()
                sent.ended = max(entry.time, sent.begun + 1)
        else:
            for its, received in receipts.receive(channel, entry):
                _arrive(its, received)
    return transfers


def _arrive(transfer: Operation, received: Entry) -> None:
    if transfer.target:
        transfer.arrived = max(received.time, transfer.begun)
