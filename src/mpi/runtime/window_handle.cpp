// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/window_handle.hpp"

#include <oriel/oriel.h>

#include "mpi/host/group_ranks.hpp"
#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {

Failure GroupRanks::find(MPI_Group group, MPI_Group window_group) {
  if (group == MPI_GROUP_NULL) return {MPI_ERR_GROUP, "the group is MPI_GROUP_NULL"};
  const std::uint64_t freed = groups_freed.load(std::memory_order_relaxed);
  if (group == group_ && freed == freed_) return {};
  group_ = MPI_GROUP_NULL;
  int size = 0;
  if (PMPI_Group_size(group, &size) != MPI_SUCCESS) {
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
