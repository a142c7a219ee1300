// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// A call that fails on all ranks: all of them tell what one has to say, because of a job that ends
// by it only some are heard. All ranks come here.

/// The lowest rank that speaks.
int find_speaker(MPI_Comm communicator, bool speaks, int& speaker);
/// Its words to all others, as far as an error string has room for them.
int hear(MPI_Comm communicator, int speaker, std::string& words);

}  // namespace oriel::boundary
