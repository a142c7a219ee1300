// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// Communicators all of whose processes know each other since an earlier window: each process can
// map the memory of all others of its node, copy their private memory, and send to other nodes, if
// there are any. If every rank knows its peers, making a window cannot fail after its pieces of
// memory have been announced. The mark is an attribute of the communicator and of its duplicates.
// Its value is the id that this process had then: a new process knows no peers.

bool knows_peers(MPI_Comm communicator, std::uint64_t own_id);
void note_known_peers(MPI_Comm communicator, std::uint64_t own_id);

}  // namespace oriel::boundary
