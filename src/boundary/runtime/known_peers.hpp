// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// Communicators all of whose processes this process knows since an earlier window was made: it can
// map the memory of all others of its node and copy their private memory, and has a way to other
// nodes, if there are any. If every rank knows its peers, making a window cannot fail once its
// pieces of memory have been announced. The mark is an attribute of the communicator and of its
// duplicates. Its value is the id that this process had then: a new process knows nobody.

bool knows_peers(MPI_Comm communicator, std::uint64_t own_id);
void note_known_peers(MPI_Comm communicator, std::uint64_t own_id);

}  // namespace oriel::boundary
