// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include <cstddef>
#include <string>
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
      : Calls("Alltoallw"),
        buffers_(ranks.rank()),
        types_(static_cast<std::size_t>(ranks.size()), MPI_UINT64_T),
        comm_(ranks.comm()) {
    const int rank = ranks.rank();
    for (int other = 0; other < ranks.size(); ++other) {
      buffers_.sent.add({rank, other}, count);
      buffers_.received.add({other, rank}, count);
    }
    for (const int start : buffers_.sent.starts) {
      byte_starts_.push_back(start * static_cast<int>(sizeof(persistent::Element)));
    }
  }

  void renew() override { buffers_.renew(); }
  void renew_last() override { buffers_.renew_last(); }
  void check(const std::string& variant) const override { buffers_.check(variant); }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& sent = buffers_.sent;
    persistent::Side& received = buffers_.received;
    return function(sent.elements.data(), sent.counts.data(), byte_starts_.data(), types_.data(),
                    received.elements.data(), received.counts.data(), byte_starts_.data(),
                    types_.data(), comm_, more...);
  }

 private:
  persistent::Buffers buffers_;
  std::vector<int> byte_starts_;  // of both sides
  std::vector<MPI_Datatype> types_;
  MPI_Comm comm_;
};

}  // namespace collectives
