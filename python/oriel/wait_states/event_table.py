# SPDX-License-Identifier: BSD-3-Clause
"""The table of events: all that a process reports of itself, and how a record and a trace have it.

The reader of records and docs/events.md use the table itself. src/core/epoch/generate_events.py
makes from it C++'s `EventKind`, and the function that writes an event as a line of a trace.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

# The version of the record's format: raised if an event gets another number or meaning.
VERSION = 5

# Enumerations of C++, with their values in order.
ENUMERATIONS = {
    "EpochKind": ("fence", "access", "exposure", "lock", "lock_all", "notified"),
    "WaitReason": (
        "lock", "unlock", "fence", "complete", "exposure", "flush", "notification", "request",
        "collective", "window",
    ),
    "OperationKind": (
        "put", "get", "accumulate", "get_accumulate", "compare_and_swap", "acknowledge",
    ),
    "Protocol": ("stored", "system_call", "message", "direct", "rendezvous", "network_atomic"),
    "NotifyKind": ("none", "tag", "counter"),
    "TransferSide": ("sent", "received"),
    "ServedIn": ("call", "wait", "agent"),
    "CopyMethod": ("staged", "streamed", "one_copy"),
}  # fmt: skip

# Bits of an event's flags.
FLAGS = {"used": 1, "exclusive": 2, "failed": 0x100}
# The bits in which the flags of an event have a value of an enumeration.
FLAGS_VALUE = 0xFF


class Group(Enum):
    """Which records have an event: `END`: none; `EPOCH`, `STEP`: all; the others: those for a
    timeline (ORIEL_TIMELINE), of which they are the larger part."""

    END = "end"
    EPOCH = "epoch"
    STEP = "step"
    OPERATION = "operation"
    TRANSFER = "transfer"
    OTHER = "other"

    @property
    def of_timeline(self) -> bool:
        return self in (Group.OPERATION, Group.TRANSFER, Group.OTHER)


class Event(NamedTuple):
    """`when`: it is reported. The others tell what each member of C++'s `Event` means: its name in
    a trace, and behind it the enumeration whose value the member has; empty: a trace does not show
    it. `words`: the bits that the flags may have."""

    name: str
    group: Group
    when: str
    detail: str = ""
    rank: str = ""
    number: str = ""
    id: str = ""
    flags: str = ""
    words: tuple[str, ...] = ()

    @property
    def fields(self) -> list[str]:
        """The names that follow the event's in a line of a trace."""
        members = (self.detail, self.rank, self.number, self.id, self.flags)
        return [member.split()[0] for member in members if member] + [*self.words]


def _epoch(name: str, when: str, *words: str) -> Event:
    return Event(
        name, Group.EPOCH, when, "kind EpochKind", "target", "epoch", words=(*words, "exclusive")
    )


def _target(name: str, when: str, *words: str) -> Event:
    return _epoch(name, when, *words)._replace(id="access")


def _wait(name: str, when: str) -> Event:
    return Event(name, Group.STEP, when, "for WaitReason", "target", "wait")


def _operation(name: str, when: str, *words: str) -> Event:
    return Event(
        name, Group.OPERATION, when, "kind OperationKind", "target", "bytes", "operation",
        "protocol Protocol", words,
    )  # fmt: skip


def _notification(name: str, when: str, group: Group, rank: str, number: str) -> Event:
    return Event(name, group, when, "kind NotifyKind", rank, number, "number")


def _transfer(name: str, when: str) -> Event:
    return Event(
        name, Group.TRANSFER, when, "side TransferSide", "peer", "bytes", "collective", "step"
    )


EVENTS = (
    Event("end", Group.END, "never: entries of a record that have not been written are zero"),
    _epoch("epoch_opened", "a call opens an epoch"),
    _epoch("epoch_deferred", "the epoch cannot be activated yet, because of an earlier one"),
    _epoch("epoch_activated", "the epoch is activated"),
    _epoch("epoch_closed", "a call closes the epoch; `used`: it had operations", "used"),
    _epoch("epoch_completed", "the epoch is complete"),
    _epoch(
        "epoch_renewing",
        "a fence begins to close an epoch and to open the next one in one step; `used`: the epoch "
        "had operations",
        "used",
    ),
    _epoch("epoch_renewed", "all ranks have entered that fence"),
    _target(
        "granted",
        "operations to the target may be carried out from now on: it has posted, or its lock is "
        "held. If only a reply of the target shows that, not before its first reply",
    ),
    _target(
        "told",
        "this rank tells the target next that the epoch is over. Of an exposure epoch: the origin "
        "has told this rank. Of a lock that the target has given back by itself, with a "
        "piggybacked operation: this rank has learned of it. `used`: the epoch had operations to "
        "the target",
        "used",
    ),
    _wait("wait_begun", "a call begins to wait"),
    _wait(
        "wait_lasts",
        "ten times a second during a long wait; `target`: the only rank whose call is awaited",
    ),
    _wait("wait_ended", "the call does not wait any more"),
    _operation(
        "operation_issued",
        "an operation of the general path has its protocol: the call carries it out, sends it, or "
        "records it. Of a hot path: it has been carried out; the time is that of its begin",
    ),
    _operation(
        "operation_done",
        "an operation that was recorded at its call is complete, as far as its caller waits for "
        "it; or a long operation of a hot path has been carried out",
        "failed",
    ),
    _notification(
        "notification_sent",
        "an operation that has been issued carries a notification; `number`: the tag, or the index "
        "of the counter",
        Group.OPERATION,
        "target",
        "bytes",
    ),
    _notification(
        "notification_matched",
        "a request has taken a notification",
        Group.OPERATION,
        "origin",
        "bytes",
    ),
    _notification(
        "notification_counted",
        "the program has read a counter that has grown by so much since it was read before",
        Group.OTHER,
        "",
        "more",
    ),
    _transfer("transfer_begun", "a persistent collective begins to send to a peer"),
    _transfer("transfer_ended", "a persistent collective has sent to a peer, or received from it"),
    Event(
        "agent_swept",
        Group.OTHER,
        "the progress agent has moved something in a sweep that took so long; the time is that of "
        "its begin",
        number="nanoseconds",
    ),
    Event(
        "served",
        Group.STEP,
        "this rank has taken messages of a remote origin: locks, operations, notifications, steps "
        "of a fence. Once for those that follow one another in a sweep. `in`: a call that does "
        "not wait, one that waits, or the progress agent",
        "in ServedIn",
        "origin",
    ),
    Event("queue_full", Group.STEP, "the target's queue of notifications is full", rank="target"),
    Event("queue_freed", Group.STEP, "the target's queue has space again", rank="target"),
    Event(
        "use_begun",
        Group.STEP,
        "MPI_Start begins a use of a persistent collective. Both numbers are equal on all ranks",
        number="collective",
        id="use",
    ),
    Event(
        "use_over",
        Group.STEP,
        "the use is over at this rank",
        number="collective",
        id="use",
    ),
    Event(
        "answered",
        Group.STEP,
        "an operation with a request of its own is complete, or a target has answered a flush "
        "request that Oriel sent by itself (`kind=acknowledge`)",
        "kind OperationKind",
        "target",
        words=("failed",),
    ),
    Event(
        "copy_chosen",
        Group.STEP,
        "a transfer of a persistent collective has chosen how it copies from now on",
        "method CopyMethod",
    ),
    Event(
        "detached_accessed",
        Group.STEP,
        "an operation has accessed memory that its target has detached, which MPI forbids: at the "
        "target, or at the origin if it maps the target's words",
        "kind OperationKind",
        "target",
    ),
)
