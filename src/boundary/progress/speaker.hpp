// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// A call that fails on all ranks: all of them tell what one has to say, because of a job that ends
// by it only some are heard. All ranks come here.

/// The lowest rank that speaks.
int find_reporting_rank(MPI_Comm communicator, bool reports, int& reporting_rank);
/// Its words to all others, as far as an error string has space for them.
int share_report(MPI_Comm communicator, int reporting_rank, std::string& words);

}  // namespace oriel::boundary
