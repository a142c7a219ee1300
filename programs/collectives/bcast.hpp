// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block from rank 0 to all.
class Bcast final
    : public persistent::Calls<Bcast, MPI_Bcast, MPI_Ibcast, decltype(&ORIEL_Bcast_init)> {
 public:
  Bcast(const persistent::Ranks& ranks, int count)
      : Calls("Bcast", persistent::Buffers(ranks.rank())),
        side_(ranks.rank() == root ? contents_.sent : contents_.received),
        comm_(ranks.comm()) {
    side_.add({root, persistent::everyone}, count);
  }
  Bcast(const Bcast&) = delete;
  Bcast& operator=(const Bcast&) = delete;

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    return function(side_.elements.data(), side_.counts[0], MPI_UINT64_T, root, comm_, more...);
  }

 private:
  static constexpr int root = 0;

  persistent::Side& side_;  // this rank's
  MPI_Comm comm_;
};

}  // namespace collectives
