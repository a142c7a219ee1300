# SPDX-License-Identifier: BSD-3-Clause
"""Which program runs where. Every run takes seconds for ever, so each row says what it proves that
no other row does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# By their own ABI, and by that of the standard.
NATIVE = ("mpich", "openmpi", "intel")
STANDARD = ("mpich-abi", "intel-abi")
# Intel MPI loads the library that was built for MPICH: what our code does, MPICH shows.
LIBRARIES = ("mpich", "openmpi")

# Those that tests of their own start.
STARTED_ELSEWHERE = (
    "advanced_host",
    "asked",
    "busy",
    "closed_output",
    "default_errhandlers",
    "early_leaver",
    "ending",
    "exiting",
    "forked",
    "granted_threads",
    "handles",
    "hidden",
    "inattentive",
    "killed",
    "killed_collective",
    "killed_notifier",
    "killed_polled",
    "killed_within",
    "late",
    "late_fence",
    "late_patterns",
    "left_windows",
    "library_version",
    "limited_memory",
    "lock_circle",
    "long_transfers",
    "lost",
    "many_windows",
    "recorded",
    "roll_call",
    "short_lived_windows",
    "silent",
    "spawned",
    "tool_variables",
)
# Several threads of each rank: on rows of its own, because more ranks only take longer.
STRESS = ("stress",)
# Long loops against updates that are torn: what excludes them from one another is ours alone, and
# needs a second rank.
WHOLE_CALLS = ("whole_calls",)
# Promises about the ranks of one node: remote ranks have none of them.
PROMISES = ("promises",)
# Each takes all ways of a collective; what they ask of the hosts and of the ranks is less than
# what windows do.
COLLECTIVES = (
    "alltoallv",
    "alltoallv_errors",
    "alltoallv_fuzz",
    "collective_soak",
    "collectives",
    "session_collectives",
)
# A thread beside one that waits: more ranks only wait, too.
LATE_SESSION = ("late_session",)
# Faults of other libraries: neither several nodes nor the standard ABI add to them but where their
# test says so.
REPORTED_NOW = ("reported_now",)
# A layer above the calls, which the other programs test.
INTERFACES = ("cpp_interface",)
PROGRAMS = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.cpp")
        if path.stem
        not in STARTED_ELSEWHERE
        + STRESS
        + WHOLE_CALLS
        + PROMISES
        + REPORTED_NOW
        + COLLECTIVES
        + LATE_SESSION
        + INTERFACES
    )
)
# Ranks wait for one another in rounds, chains and queues, which grow with their number.
SYNCHRONIZATION = ("fence", "nonblocking", "passive", "pscw")
# Every kind of operation, also longer than any packet.
OPERATIONS = ("operations",)
# The same of a dynamic window, where the target moves what is long.
DYNAMIC = ("dynamic",)
# Those that ask most of how a host waits: what else they do, MPICH shows.
HOST_WAITS = (*SYNCHRONIZATION, *OPERATIONS, "notified", "requests")
ACCUMULATES = ("datatypes", "operations", "reductions")


@dataclass(frozen=True)
class Row:
    hosts: tuple[str, ...]
    programs: tuple[str, ...]
    values: tuple  # of what else a run is given: ranks, nodes and ranks, a provider


ONE_NODE = (
    # One peer of each host; MPICH's library has it with the standard ABI, below.
    Row(("openmpi", "intel"), PROGRAMS, (2,)),
    # Several peers, which are more ranks than the cores of a small machine.
    Row(("mpich",), PROGRAMS, (4,)),
    Row(("openmpi",), HOST_WAITS, (4,)),
    # A rank alone is its own peer. The host has no part in that.
    Row(("mpich",), PROGRAMS, (1,)),
    # Each host gives handles of freed windows and datatypes again in another order.
    Row(NATIVE, STRESS, (2,)),
    # Each host's way to reach the memory of a window; more ranks than cores.
    Row(NATIVE, WHOLE_CALLS, (2,)),
    Row(("mpich",), WHOLE_CALLS, (4,)),
    # Each host's barrier behind an operation; more ranks than cores.
    Row(NATIVE, PROMISES, (2,)),
    Row(("mpich",), PROMISES, (4,)),
    # What each host gets wrong, with Oriel; neighbors that change, and ranks without memory.
    Row(NATIVE, REPORTED_NOW, (2,)),
    Row(("mpich",), REPORTED_NOW, (4,)),
    # Each host's way to begin a session beside MPI_Init.
    Row(NATIVE, LATE_SESSION, (2,)),
    # A lock's queue, and updates of one word, of more than two ranks; targets of several threads.
    Row(("mpich",), STRESS, (3,)),
    # Three rounds of a fence, longer queues.
    Row(LIBRARIES, SYNCHRONIZATION, (8,)),
    # Other constants and handles, which all programs use; the number of ranks is nothing to them.
    Row(("mpich-abi",), PROGRAMS, (2,)),
    # The same library under another MPI. Intel MPI 2021.18 has the values of MPI_ERRORS_RETURN and
    # MPI_ERRORS_ABORT the other way round than MPICH 5.0, with whose header programs for the
    # standard ABI are built here: none of those that set error handlers.
    Row(("intel-abi",), ("datatypes", "fence"), (2,)),
    # Each host's requests and own collective; more ranks than cores, and pairs that are not
    # neighbours.
    Row(NATIVE, COLLECTIVES, (4,)),
    # A rank alone; handles of the standard ABI.
    Row(("mpich",), COLLECTIVES, (1,)),
    Row(("mpich-abi",), COLLECTIVES, (2,)),
    # Each host's constants and handles, which differ in kind; neighbours that are two ranks or one.
    Row(NATIVE, INTERFACES, (2, 4)),
    Row(("mpich-abi",), INTERFACES, (2,)),
)

SEVERAL_NODES = (
    # Remote peers together with mapped ones.
    Row(("mpich",), PROGRAMS, ("2x2",)),
    # The libfabric and the launcher of each other host.
    Row(("openmpi", "intel"), HOST_WAITS + DYNAMIC, ("2x2",)),
    # Datatypes and errors, which Open MPI has in its own way, in messages.
    Row(("openmpi",), ("datatypes", "errors", "fuzz", "reductions"), ("2x2",)),
    # Intel MPI's threads spin in its blocking calls: more of them than this, on two cores, take
    # turns of seconds on some kernels.
    Row(("intel",), ("threads",), ("2x1",)),
    # Remote peers alone: nothing is mapped.
    Row(
        ("mpich",),
        HOST_WAITS + DYNAMIC + WHOLE_CALLS + REPORTED_NOW + ("created", "errors", "fuzz", "order"),
        ("2x1",),
    ),
    # Updates by messages and by loads and stores exclude one another.
    Row(LIBRARIES, WHOLE_CALLS, ("2x2",)),
    # Threads that wait for messages of one another's, and the agent beside them; mapped peers, too.
    Row(("mpich", "intel"), STRESS, ("2x2",)),
    # Open MPI's threads yield in its collectives; more of them than this, on two cores, take turns
    # of seconds on kernels where who yields is served first.
    Row(("openmpi",), STRESS, ("2x1",)),
    # More nodes than two, and not a power of two: rounds between them.
    Row(LIBRARIES, SYNCHRONIZATION, ("3x2",)),
    # Nodes that are served first, and ranks of one's own; and nobody on one's own node.
    Row(("mpich",), COLLECTIVES, ("2x2",)),
    # Each host's requests and own collective between nodes.
    Row(("openmpi", "intel"), ("alltoallv_errors", "collectives"), ("2x2",)),
    Row(("mpich",), COLLECTIVES, ("3x1",)),
    # Requests that are pending when their objects move or end.
    Row(("mpich",), INTERFACES, ("2x1",)),
    # What a tool counts of remote operations.
    Row(("mpich",), ("tool_variables",), ("2x1",)),
)

# The others' networks, of which Intel MPI's libfabric has tcp alone. sockets is slow: less of it.
PROVIDERS = (
    Row(LIBRARIES, ("fence", "operations", "passive", "pscw", "reductions"), ("tcp;ofi_rxm",)),
    Row(("mpich",), ("fence", "operations", "pscw"), ("sockets",)),
    Row(("openmpi",), OPERATIONS, ("sockets",)),
    # Each packet is acknowledged by its receiver's software, so a rank that leaves is still needed.
    Row(("mpich",), ("fence", "notified", "operations", "passive"), ("udp;ofi_rxd",)),
    # No order, addresses of its own kind, and a target whose software carries out RMA: of all that
    # runs without its hardware the one most like a card's provider.
    Row(
        ("mpich",),
        ("atomics", "fence", "fuzz", "nonblocking", "notified", "operations", "passive", "pscw"),
        ("psm3",),
    ),
)

# Accumulates by the network's own atomics where all peers are remote, beside mapped ones not.
INTRINSIC = (
    Row(NATIVE, ("atomics",), ("2x1", "2x2")),
    Row(("mpich",), ACCUMULATES, ("2x1", "2x2")),
    Row(("openmpi",), ACCUMULATES, ("2x1",)),
    # What the query says of it.
    Row(LIBRARIES, ("intrinsic",), ("2x1",)),
    # Requests that wait for the target: these atomics need no answer of it.
    Row(("mpich",), ("remote_completion",), ("2x2",)),
)

MANNERS = (
    "no_registration",
    "local_registration",
    "unordered_writes",
    "late_receives",
    "again",
    "no_wait",
)
# In which what a provider promises, refuses or gives differs, and the operations do not.
PROVIDER_MANNERS = (
    "acknowledged_by_software",
    "any_order",
    "failing_registration",
    "limited_registration",
    "no_inject",
    "offsets",
    "old_library",
    "opaque_32",
    "opaque_100",
    "passing_errors",
    "provider_keys",
    "several_cards",
    "small_limits",
)
# Which concern direct transfers only. Where a card carries out puts and gets, all are direct.
CARD_MANNERS = (
    "card",
    "card,echoed_immediate",
    "card,ignores_order",
    "card,late_delivery",
    "card,looks_only",
    "card,no_immediate",
    "card,read_only_origin",
    "card,short_immediate",
    "card,unordered_writes",
)
# What becomes of immediate data, which only notified accesses use.
IMMEDIATE_MANNERS = (
    "late_receives",
    "again",
    "short_immediate",
    "no_immediate",
    "echoed_immediate",
)
# Where notified accesses use it: it takes an order among writes.
WITH_IMMEDIATE = (
    "again",
    "any_order",
    "card",
    "card,echoed_immediate",
    "card,read_only_origin",
    "card,short_immediate",
    "echoed_immediate",
    "late_receives",
    "short_immediate",
)
# Ranks of one host that cannot see each other: what is new is the way to the network, which all
# windows take alike.
HIDDEN = (
    Row(("mpich",), ("hidden", "fence", "operations", "passive", "pscw"), (2,)),
    Row(("openmpi", "intel"), ("hidden", "operations"), (2,)),
)

AWKWARD_NETWORKS = (
    Row(("mpich",), ("fence", "operations", "passive", "pscw"), MANNERS),
    # Each host brings a libfabric of its own.
    Row(("openmpi", "intel"), OPERATIONS, MANNERS),
    # The random program draws all operations and synchronizations. Without a card it has no writes.
    Row(("mpich",), ("fuzz",), tuple(one for one in MANNERS if one != "unordered_writes")),
    Row(("mpich",), ("fuzz",), PROVIDER_MANNERS + CARD_MANNERS),
    # Transfers that end in another order than they began, or not before the target looks.
    Row(("mpich",), ("notified", "operations"), ("any_order", "late_delivery", "looks_only")),
    Row(("mpich",), ("notified",), ("card", "card,unordered_writes")),
    # Long transfers of a provider that breaks its promise, fails, or does not take all memory.
    Row(
        ("mpich",),
        ("notified", "operations"),
        ("ignores_order", "passing_errors", "passing_errors,unordered_writes"),
    ),
    Row(
        ("mpich",),
        OPERATIONS,
        ("failing_registration", "limited_registration", "read_only_origin", "small_limits"),
    ),
    Row(("mpich",), ("notified",), IMMEDIATE_MANNERS),
    # A write that is over is there, or a question has to follow it.
    Row(("mpich",), ("remote_completion",), ("unordered_writes", "again")),
    # The target moves what is long, if the origin can lend its buffer.
    Row(
        ("mpich",),
        DYNAMIC,
        ("no_registration", "local_registration", "unordered_writes", "again"),
    ),
)
