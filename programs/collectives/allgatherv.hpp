// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include <string>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block of each rank to all.
class Allgatherv final : public persistent::Calls<Allgatherv, MPI_Allgatherv, MPI_Iallgatherv,
                                                  decltype(&ORIEL_Allgatherv_init)> {
 public:
  Allgatherv(const persistent::Ranks& ranks, int count)
      : Calls("Allgatherv"), buffers_(ranks.rank()), comm_(ranks.comm()) {
    buffers_.sent.add({ranks.rank(), persistent::everyone}, count);
    for (int other = 0; other < ranks.size(); ++other) {
      buffers_.received.add({other, persistent::everyone}, count);
    }
  }

  void renew() override { buffers_.renew(); }
  void renew_last() override { buffers_.renew_last(); }
  void check(const std::string& variant) const override { buffers_.check(variant); }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    persistent::Side& received = buffers_.received;
    return function(buffers_.sent.elements.data(), buffers_.sent.counts[0], MPI_UINT64_T,
                    received.elements.data(), received.counts.data(), received.starts.data(),
                    MPI_UINT64_T, comm_, more...);
  }

 private:
  persistent::Buffers buffers_;
  MPI_Comm comm_;
};

}  // namespace collectives
