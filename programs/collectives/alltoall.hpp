// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block from each rank to each, itself included.
class Alltoall final : public persistent::Calls<Alltoall, MPI_Alltoall, MPI_Ialltoall,
                                                decltype(&ORIEL_Alltoall_init)> {
 public:
  Alltoall(const persistent::Ranks& ranks, int count)
      : Calls("Alltoall", persistent::Buffers(ranks.rank())), count_(count), comm_(ranks.comm()) {
    const int rank = ranks.rank();
    for (int other = 0; other < ranks.size(); ++other) {
      contents_.sent.add({rank, other}, count);
      contents_.received.add({other, rank}, count);
    }
  }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    return function(contents_.sent.elements.data(), count_, MPI_UINT64_T,
                    contents_.received.elements.data(), count_, MPI_UINT64_T, comm_, more...);
  }

 private:
  int count_;
  MPI_Comm comm_;
};

}  // namespace collectives
