// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include <cstddef>
#include <vector>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// The same as Alltoall, said for each rank.
class Alltoallw final : public persistent::Calls<Alltoallw, MPI_Alltoallw, MPI_Ialltoallw,
                                                 decltype(&ORIEL_Alltoallw_init)> {
 public:
  Alltoallw(const persistent::Ranks& ranks, int count)
      : Calls("Alltoallw", persistent::Buffers(ranks.rank())),
        types_(static_cast<std::size_t>(ranks.size()), MPI_UINT64_T),
        comm_(ranks.comm()) {
    const int rank = ranks.rank();
    for (int other = 0; other < ranks.size(); ++other) {
      contents_.sent.add({rank, other}, count);
      contents_.received.add({other, rank}, count);
    }
    for (const int start : contents_.sent.starts) {
      byte_starts_.push_back(start * static_cast<int>(sizeof(persistent::Element)));
    }
  }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& sent = contents_.sent;
    persistent::Side& received = contents_.received;
    return function(sent.elements.data(), sent.counts.data(), byte_starts_.data(), types_.data(),
                    received.elements.data(), received.counts.data(), byte_starts_.data(),
                    types_.data(), comm_, more...);
  }

 private:
  std::vector<int> byte_starts_;  // of both sides
  std::vector<MPI_Datatype> types_;
  MPI_Comm comm_;
};

}  // namespace collectives
