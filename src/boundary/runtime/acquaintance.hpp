// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// Communicators whose processes have met when an earlier window was made: this one can map the
// memory of all others of its node and copy their private memory, and has a way to other nodes, if
// there are any. When all say so of themselves, making a
// window cannot fail once its pieces of memory have been announced. An attribute of the
// communicator says it, and of its duplicates; what it holds is the id that this process had then,
// because a new one has met nobody.

bool has_met(MPI_Comm communicator, std::uint64_t own_id);
void note_met(MPI_Comm communicator, std::uint64_t own_id);
/// Before MPI ends, if it may begin again.
void forget_met();

}  // namespace oriel::boundary
