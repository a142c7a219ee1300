// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/alltoallw.hpp"

#include <utility>

#include "core/collective/schedules/buffers_together.hpp"
#include "core/collective/schedules/kept_sends.hpp"

namespace oriel {

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
  KeptSends kept(rank, buffers, made.take_scratch(KeptSends::bytes(rank, buffers)));
  made.schedule = alltoallw(rank, kept.sends, buffers).schedule;
  made.schedule.copies = std::move(kept.copies);
  return made;
}

}  // namespace oriel
