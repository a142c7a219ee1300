// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// How often the program has called MPI_Group_free. After that a handle may name another group.
inline constinit std::atomic<std::uint64_t> groups_freed{0};

/// The members of a group as ranks of a window. Programs name the same group in every epoch, and
/// its members never change, so they are kept until some group is freed.
class GroupRanks {
 public:
  /// Sets ranks() to the members of the group. `window_group`: the same in every call. Local, does
  /// not block. MPI_ERR_GROUP: the group is null or not valid, or has members that are not in the
  /// window's; ranks() then means nothing.
  Failure find(MPI_Group group, MPI_Group window_group);
  /// Until the next find().
  std::span<const int> ranks() const { return ranks_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;  // null: none is kept
  std::uint64_t freed_ = 0;           // groups_freed when its ranks were found
  std::vector<int> ranks_;
};

}  // namespace oriel::boundary
