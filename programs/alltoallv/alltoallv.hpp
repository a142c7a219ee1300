// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "pattern.hpp"
#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace alltoallv {

class Alltoallv final : public persistent::Calls<Alltoallv, MPI_Alltoallv, MPI_Ialltoallv,
                                                 decltype(&ORIEL_Alltoallv_init)> {
 public:
  Alltoallv(const persistent::Ranks& ranks, const Pattern& pattern)
      : Calls("Alltoallv", persistent::Buffers(ranks.rank())), comm_(ranks.comm()) {
    const int rank = ranks.rank();
    for (int other = 0; other < ranks.size(); ++other) {
      contents_.sent.add({rank, other}, pattern.count(rank, other));
      contents_.received.add({other, rank}, pattern.count(other, rank));
    }
  }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& sent = contents_.sent;
    persistent::Side& received = contents_.received;
    return function(sent.elements.data(), sent.counts.data(), sent.starts.data(), MPI_UINT64_T,
                    received.elements.data(), received.counts.data(), received.starts.data(),
                    MPI_UINT64_T, comm_, more...);
  }

 private:
  MPI_Comm comm_;
};

}  // namespace alltoallv
