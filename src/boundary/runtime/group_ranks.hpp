// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// How many groups the program has freed. A handle may then name another group.
inline constinit std::atomic<std::uint64_t> groups_freed{0};

/// The members of a group as ranks of a window. Programs name the same group in every epoch, and
/// its members never change, so they are kept until some group is freed: the host's translation
/// takes about as long as the rest of MPI_Win_post.
class GroupRanks {
 public:
  /// `group_of_window`: the same in every call.
  Failure translate(MPI_Group group, MPI_Group group_of_window);
  std::span<const int> ranks() const { return ranks_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;  // null: none is kept
  std::uint64_t freed_ = 0;           // groups_freed when it was translated
  std::vector<int> members_;          // as ranks of the group
  std::vector<int> ranks_;
};

}  // namespace oriel::boundary
