// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "engine/host/host_interface.hpp"

namespace oriel {

// A collective call that fails raises the same sentence on all ranks: if the error ends the job,
// the output of only some ranks may be seen. All ranks of the communicator make these calls.

/// Finds the lowest rank that has an error to report.
HostCode find_reporting_rank(HostComm& comm, bool reports, int& reporting_rank);
/// Broadcasts the words of that rank, cut to the length of an error string.
HostCode share_report(HostComm& comm, int reporting_rank, std::string& words);

}  // namespace oriel
