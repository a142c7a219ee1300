// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/host/host_interface.hpp"

namespace oriel {

// A collective call that fails raises the same sentence on all ranks: if the error ends the job,
// the output of only some ranks may be seen. All ranks of the communicator make these calls.

/// Finds the lowest rank that has an error to report.
inline HostCode find_reporting_rank(HostComm& comm, bool reports, int& reporting_rank) {
  std::array lowest{static_cast<std::uint64_t>(reports ? comm.rank() : comm.ranks())};
  const HostCode code = comm.allreduce(lowest, HostOp::min);
  reporting_rank = static_cast<int>(lowest[0]);
  return code;
}

/// Broadcasts the words of that rank, cut to the length of an error string.
inline HostCode share_report(HostComm& comm, int reporting_rank, std::string& words) {
  const bool reports = comm.rank() == reporting_rank;
  std::array<char, 512> text{};
  if (reports) words.copy(text.data(), text.size() - 1);
  const HostCode code = comm.broadcast(text.data(), text.size(), reporting_rank);
  if (code == 0 && !reports) words = text.data();
  return code;
}

}  // namespace oriel
