// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/group_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

bool has_first_world() {
  if (!world_exists()) return false;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent == MPI_COMM_NULL;
}

}  // namespace

bool translate_ranks(MPI_Group group, int size, MPI_Group other, std::vector<int>& ranks) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), 0);
  ranks.resize(members.size());
  return PMPI_Group_translate_ranks(group, size, host_list(members), other, host_list(ranks)) ==
             MPI_SUCCESS &&
         std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

WorldRank own_world_rank() {
  WorldRank own;
  if (!has_first_world()) return own;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &own.ranks);
  return own;
}

std::vector<int> world_ranks(MPI_Group group) {
  if (!has_first_world()) return {};
  int size = 0;
  PMPI_Group_size(group, &size);
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;
  const bool all_there = translate_ranks(group, size, world, ranks);
  host_mpi().Group_free(&world);
  return all_there ? ranks : std::vector<int>();
}

}  // namespace oriel::mpi
