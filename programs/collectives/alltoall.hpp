// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include <string>

#include "persistent/buffers.hpp"
#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"

namespace collectives {

/// A block from each rank to each, itself included.
class Alltoall final : public persistent::Calls<Alltoall, MPI_Alltoall, MPI_Ialltoall,
                                                decltype(&ORIEL_Alltoall_init)> {
 public:
  Alltoall(const persistent::Ranks& ranks, int count)
      : Calls("Alltoall"), buffers_(ranks.rank()), count_(count), comm_(ranks.comm()) {
    const int rank = ranks.rank();
    for (int other = 0; other < ranks.size(); ++other) {
      buffers_.sent.add({rank, other}, count);
      buffers_.received.add({other, rank}, count);
    }
  }

  void renew() override { buffers_.renew(); }
  void renew_last() override { buffers_.renew_last(); }
  void check(const std::string& variant) const override { buffers_.check(variant); }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    return function(buffers_.sent.elements.data(), count_, MPI_UINT64_T,
                    buffers_.received.elements.data(), count_, MPI_UINT64_T, comm_, more...);
  }

 private:
  persistent::Buffers buffers_;
  int count_;
  MPI_Comm comm_;
};

}  // namespace collectives
