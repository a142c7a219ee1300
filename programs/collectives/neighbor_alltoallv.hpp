// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "grid.hpp"
#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block to each neighbour in a grid, and one from each.
class NeighborAlltoallv final
    : public persistent::Calls<NeighborAlltoallv, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
                               decltype(&ORIEL_Neighbor_alltoallv_init)> {
 public:
  NeighborAlltoallv(const persistent::Ranks& ranks, int count)
      : Calls("Neighbor_alltoallv", persistent::Buffers(ranks.rank())), grid_(ranks) {
    const int rank = ranks.rank();
    for (const int other : grid_.neighbours()) {
      const int exchanged = other == MPI_PROC_NULL ? 0 : count;
      contents_.sent.add({rank, other}, exchanged);
      contents_.received.add({other, rank}, exchanged);
    }
  }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& sent = contents_.sent;
    persistent::Side& received = contents_.received;
    return function(sent.elements.data(), sent.counts.data(), sent.starts.data(), MPI_UINT64_T,
                    received.elements.data(), received.counts.data(), received.starts.data(),
                    MPI_UINT64_T, grid_.comm(), more...);
  }

 private:
  Grid grid_;
};

}  // namespace collectives
