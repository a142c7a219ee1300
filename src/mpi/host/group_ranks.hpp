// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Finds the ranks that the `size` members of a group have in another group, in the group's order.
/// False: a member is not in the other group, or the host has failed.
bool translate_ranks(MPI_Group group, int size, MPI_Group other, std::vector<int>& ranks);

/// A rank in MPI_COMM_WORLD, and the number of its ranks. -1: there is no such communicator, or the
/// process has been spawned and has another one than the processes that started the job.
struct WorldRank {
  int rank = -1;
  int ranks = -1;
};
WorldRank own_world_rank();

/// The ranks in MPI_COMM_WORLD of the group's members, in the group's order. Empty:
/// own_world_rank() is -1, or some of the members are not in that communicator.
std::vector<int> world_ranks(MPI_Group group);

}  // namespace oriel::mpi
