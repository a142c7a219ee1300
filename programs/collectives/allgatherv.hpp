// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block of each rank to all.
class Allgatherv final : public persistent::Calls<Allgatherv, MPI_Allgatherv, MPI_Iallgatherv,
                                                  decltype(&ORIEL_Allgatherv_init)> {
 public:
  Allgatherv(const persistent::Ranks& ranks, int count)
      : Calls("Allgatherv", persistent::Buffers(ranks.rank())), comm_(ranks.comm()) {
    contents_.sent.add({ranks.rank(), persistent::everyone}, count);
    for (int other = 0; other < ranks.size(); ++other) {
      contents_.received.add({other, persistent::everyone}, count);
    }
  }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& received = contents_.received;
    return function(contents_.sent.elements.data(), contents_.sent.counts[0], MPI_UINT64_T,
                    received.elements.data(), received.counts.data(), received.starts.data(),
                    MPI_UINT64_T, comm_, more...);
  }

 private:
  MPI_Comm comm_;
};

}  // namespace collectives
