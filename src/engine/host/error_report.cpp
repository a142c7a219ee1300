// SPDX-License-Identifier: BSD-3-Clause
#include "engine/host/error_report.hpp"

#include <array>
#include <cstdint>

namespace oriel {

HostCode find_reporting_rank(HostComm& comm, bool reports, int& reporting_rank) {
  std::array lowest{static_cast<std::uint64_t>(reports ? comm.rank() : comm.ranks())};
  const HostCode code = comm.allreduce(lowest, HostOp::min);
  reporting_rank = static_cast<int>(lowest[0]);
  return code;
}

HostCode share_report(HostComm& comm, int reporting_rank, std::string& words) {
  const bool reports = comm.rank() == reporting_rank;
  std::array<char, 512> text{};
  if (reports) words.copy(text.data(), text.size() - 1);
  const HostCode code = comm.broadcast(text.data(), text.size(), reporting_rank);
  if (code == 0 && !reports) words = text.data();
  return code;
}

}  // namespace oriel
