// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

#include <string>

#include "persistent/calls.hpp"
#include "persistent/ranks.hpp"
#include "terms.hpp"

namespace collectives {

/// The sum of a block of doubles of each rank, on rank 0.
class Reduce final
    : public persistent::Calls<Reduce, MPI_Reduce, MPI_Ireduce, decltype(&ORIEL_Reduce_init)> {
 public:
  Reduce(const persistent::Ranks& ranks, int count)
      : Calls("Reduce"),
        terms_(ranks, count, ranks.rank() == root),
        count_(count),
        comm_(ranks.comm()) {}

  void renew() override { terms_.renew(); }
  void renew_last() override { terms_.renew_last(); }
  void check(const std::string& variant) const override { terms_.check(variant); }

  template <typename Function, typename... More>
  int call(Function function, More... more) {
    return function(terms_.brought.data(), terms_.sum.data(), count_, MPI_DOUBLE, MPI_SUM, root,
                    comm_, more...);
  }

 private:
  static constexpr int root = 0;

  Terms terms_;
  int count_;
  MPI_Comm comm_;
};

}  // namespace collectives
