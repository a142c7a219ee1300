// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/group_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

// The number of MPI_Group_free calls of the program. After one, a handle may name another group.
constinit std::atomic<std::uint64_t> groups_freed{0};

bool has_first_world() {
  if (!world_exists()) return false;
  MPI_Comm parent = MPI_COMM_NULL;
  host_mpi().Comm_get_parent(&parent);
  return parent == MPI_COMM_NULL;
}

/// Finds the ranks that the `size` members of a group have in another group, in the group's order.
/// False: a member is not in the other group, or the host has failed.
bool translate_ranks(MPI_Group group, int size, MPI_Group other, std::vector<int>& ranks) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  ranks.resize(members.size());
  return host_mpi().Group_translate_ranks(group, size, host_list(members), other,
                                          host_list(ranks)) == MPI_SUCCESS &&
         std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

}  // namespace

WorldRank own_world_rank() {
  WorldRank own;
  if (!has_first_world()) return own;
  host_mpi().Comm_rank(MPI_COMM_WORLD, &own.rank);
  host_mpi().Comm_size(MPI_COMM_WORLD, &own.ranks);
  return own;
}

std::vector<int> world_ranks(MPI_Group group) {
  if (!has_first_world()) return {};
  int size = 0;
  host_mpi().Group_size(group, &size);
  MPI_Group world = MPI_GROUP_NULL;
  host_mpi().Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;
  const bool all_there = translate_ranks(group, size, world, ranks);
  host_mpi().Group_free(&world);
  return all_there ? ranks : std::vector<int>();
}

Failure GroupRanks::find(MPI_Group group, MPI_Group window_group) {
  if (group == MPI_GROUP_NULL) return {MPI_ERR_GROUP, "the group is MPI_GROUP_NULL"};
  const std::uint64_t freed = groups_freed.load(std::memory_order_relaxed);
  if (group == group_ && freed == freed_) return {};
  group_ = MPI_GROUP_NULL;
  int size = 0;
  if (host_mpi().Group_size(group, &size) != MPI_SUCCESS) {
    return {MPI_ERR_GROUP, "the group is not valid"};
  }
  if (!translate_ranks(group, size, window_group, ranks_)) {
    return {MPI_ERR_GROUP, "the group has members that are not in the window's group"};
  }
  group_ = group;
  freed_ = freed;
  return {};
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Group_free)(MPI_Group* group) {
  groups_freed.fetch_add(1, std::memory_order_relaxed);
  return host_mpi().Group_free(group);
}
