// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/record/recorder.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

WorldRank own_world_rank();

/// The ranks in MPI_COMM_WORLD of the group's members, in the group's order. Empty:
/// own_world_rank() is -1, or some of the members are not in that communicator.
std::vector<int> world_ranks(MPI_Group group);

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
  std::uint64_t freed_ = 0;           // the MPI_Group_free calls before the ranks were found
  std::vector<int> ranks_;
};

}  // namespace oriel::mpi
