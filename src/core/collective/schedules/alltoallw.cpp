// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/schedules.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/collective/schedule.hpp"

namespace oriel {

std::uint64_t KeptSends::bytes(int rank, std::span<const Buffer> buffers) {
  std::uint64_t all = 0;
  for (const Buffer& buffer : buffers) all += bytes_in(buffer);
  return all - bytes_in(buffers[static_cast<std::size_t>(rank)]);
}

KeptSends::KeptSends(int rank, std::span<const Buffer> buffers, std::byte* memory)
    : sends(buffers.size()) {
  for (std::size_t other = 0; other < buffers.size(); ++other) {
    if (other == static_cast<std::size_t>(rank)) continue;
    const std::uint64_t block = bytes_in(buffers[other]);
    sends[other] = bytes_at(memory, block);
    if (block == 0) continue;
    memory += block;
    copies.push_back({buffers[other], sends[other], Schedule::before_all});
  }
}

MadeSchedule alltoallw(int rank, std::span<const Buffer> sends, std::span<const Buffer> receives) {
  MadeSchedule made;
  Schedule& schedule = made.schedule;
  const auto at = [](int other) { return static_cast<std::size_t>(other); };
  const int ranks = static_cast<int>(receives.size());
  schedule.sends.reserve(at(ranks - 1));
  schedule.receives.reserve(at(ranks - 1));
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank + ranks - distance) % ranks;
    schedule.sends.push_back({to, sends[at(to)], 0});
    schedule.receives.push_back({from, receives[at(from)], 0});
  }
  if (bytes_in(sends[at(rank)]) == 0) return made;
  schedule.copies.push_back({sends[at(rank)], receives[at(rank)], 0});
  return made;
}

MadeSchedule alltoallw_in_place(int rank, std::span<const Buffer> buffers) {
  MadeSchedule made;
  KeptSends kept(rank, buffers, made.allocate_scratch(KeptSends::bytes(rank, buffers)));
  made.schedule = alltoallw(rank, kept.sends, buffers).schedule;
  made.schedule.copies = std::move(kept.copies);
  return made;
}

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
