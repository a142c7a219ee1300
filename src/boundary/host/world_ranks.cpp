// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/world_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "boundary/host/errors.hpp"
#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {
namespace {

bool has_first_world() {
  if (!world_exists()) return false;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent == MPI_COMM_NULL;
}

}  // namespace

WorldRank own_world_rank() {
  WorldRank own;
  if (!has_first_world()) return own;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &own.ranks);
  return own;
}

std::vector<int> world_ranks(MPI_Group group) {
  if (!has_first_world()) return {};
  int count = 0;
  PMPI_Group_size(group, &count);
  std::vector<int> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  std::vector<int> ranks(members.size(), MPI_UNDEFINED);
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  const int code = PMPI_Group_translate_ranks(group, count, members.data(), world, ranks.data());
  host_mpi().Group_free(&world);
  if (code != MPI_SUCCESS || std::ranges::find(ranks, MPI_UNDEFINED) != ranks.end()) return {};
  return ranks;
}

}  // namespace oriel::boundary
