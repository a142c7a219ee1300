// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/neighbor_alltoallv.hpp"

#include <algorithm>
#include <vector>

namespace oriel {

MadeSchedule neighbor_alltoallv(int rank, std::span<const Edge> sends,
                                std::span<const Edge> receives, EdgeMatching matching) {
  MadeSchedule made;
  Schedule& schedule = made.schedule;
  std::vector<Buffer> out_here;
  std::vector<Buffer> in_here;
  for (const Edge& edge : sends) {
    if (edge.rank < 0) continue;
    if (edge.rank == rank) {
      out_here.push_back(edge.buffer);
    } else {
      schedule.sends.push_back({edge.rank, edge.buffer, 0});
    }
  }
  for (std::size_t i = 0; i < receives.size(); ++i) {
    // A dimension has two consecutive edges, down and up. If both lead to one rank, the sender's
    // first edge matches our second one.
    const Edge& edge = receives[matching == EdgeMatching::cartesian ? i ^ 1 : i];
    if (edge.rank < 0) continue;
    if (edge.rank == rank) {
      in_here.push_back(edge.buffer);
    } else {
      schedule.receives.push_back({edge.rank, edge.buffer, 0});
    }
  }
  for (std::size_t i = 0; i < std::min(out_here.size(), in_here.size()); ++i) {
    schedule.copies.push_back({out_here[i], in_here[i], 0});
  }
  return made;
}

}  // namespace oriel
