// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The first step of the first window on a communicator: finds a rank that runs without Oriel, such
/// as a statically linked program. Such a rank makes a window of the host and waits in it for the
/// other ranks, which would wait for that rank in a collective of Oriel's.
///
///     1. All ranks make a communicator. The hosts that Oriel supports also do so when they make a
///        window, and the two calls match. When a rank has the communicator, every rank has begun
///        to make the window, with Oriel or without.
///     2. Each rank sends a message on the new communicator to its right neighbour. A rank without
///        Oriel sends none.
///     3. A rank that has received none from its left neighbour after ORIEL_ROLL_CALL seconds
///        prints a sentence and ends the job. There is such a rank if some ranks have Oriel and
///        some do not. An error code would not suffice, because a rank without Oriel cannot
///        receive it.
///
/// Does nothing if the host's progress engine does not call Oriel's hook: the host's
/// MPI_Comm_create would wait without sweeping, and its nonblocking calls do not match. Returns the
/// host's code.
int take_roll_call(MPI_Comm communicator, const char* call);

}  // namespace oriel::mpi
