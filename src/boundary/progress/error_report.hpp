// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

// A collective call that fails raises the same sentence on all ranks: if the error ends the job,
// the output of only some ranks may be seen. All ranks of the communicator make these calls.

/// Finds the lowest rank that has an error to report. Returns the host's error code.
int find_reporting_rank(MPI_Comm communicator, bool reports, int& reporting_rank);
/// Broadcasts the words of that rank, cut to the length of an error string. Returns the host's
/// error code.
int share_report(MPI_Comm communicator, int reporting_rank, std::string& words);

}  // namespace oriel::boundary
