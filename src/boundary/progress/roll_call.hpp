// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The first step of the first window on a communicator: finds a rank that runs without Oriel, as a
/// statically linked program among others does. Such a rank is in the host's own making of a
/// window and waits there for the other ranks, which would wait for it in a collective of Oriel's.
///
///     1. All ranks make a communicator. So do the hosts that Oriel supports when they make a
///        window, and the two match. When a rank has it, every rank has begun to make the window,
///        with Oriel or without.
///     2. Each rank sends a message on the new communicator to its right neighbour. A rank without
///        Oriel sends none.
///     3. A rank that has none from its left neighbour after ORIEL_ROLL_CALL ends the job with a
///        sentence. Where some ranks have Oriel and some have not, there is such a rank. An error
///        code would not do, because a rank without Oriel cannot be told of it.
///
/// Nothing is done where the host's progress engine does not call ours: the host's MPI_Comm_create
/// would wait without sweeping, and its nonblocking calls do not match. Returns the host's code.
int take_roll_call(MPI_Comm communicator, const char* call);

}  // namespace oriel::boundary
