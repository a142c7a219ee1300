// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "bench/distance.hpp"
#include "bench/two_ranks.hpp"

namespace notify {

inline constexpr int client = 0;
inline constexpr int server = 1;

/// Who this rank is, and who the other one.
struct Job {
  int rank = 0;
  int partner = 0;
  bool one_node = false;

  Job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench::expect_two_ranks("benchmark");
    partner = 1 - rank;
    one_node = bench::Distance::one_node();
  }
};

}  // namespace notify
