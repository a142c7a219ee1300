// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"
#include "terms.hpp"

namespace collectives {

/// The sum of a block of doubles of each rank, on rank 0.
class Reduce final : public persistent::Calls<Reduce, MPI_Reduce, MPI_Ireduce,
                                              decltype(&ORIEL_Reduce_init), Terms> {
 public:
  Reduce(const persistent::Ranks& ranks, int count)
      : Calls("Reduce", Terms(ranks, count, ranks.rank() == root)),
        count_(count),
        comm_(ranks.comm()) {}

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    return function(contents_.brought.data(), contents_.sum.data(), count_, MPI_DOUBLE, MPI_SUM,
                    root, comm_, more...);
  }

 private:
  static constexpr int root = 0;

  int count_;
  MPI_Comm comm_;
};

}  // namespace collectives
