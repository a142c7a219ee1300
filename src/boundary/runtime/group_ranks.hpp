// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The number of MPI_Group_free calls of the program. After one, a handle may name another group.
inline constinit std::atomic<std::uint64_t> groups_freed{0};

/// The members of a group as ranks of a window. Programs name one group in every epoch, and its
/// members never change, so the ranks are kept until any group is freed.
class GroupRanks {
 public:
  /// Sets ranks() to the members of the group. `window_group` must be equal in all calls. Local,
  /// does not block. Fails with MPI_ERR_GROUP if the group is null or not valid, or has members
  /// outside the window's group; ranks() is then undefined.
  Failure find(MPI_Group group, MPI_Group window_group);
  /// Valid until the next find().
  std::span<const int> ranks() const { return ranks_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;  // null: no ranks are kept
  std::uint64_t freed_ = 0;           // groups_freed when the ranks were found
  std::vector<int> ranks_;
};

}  // namespace oriel::boundary
