// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "bench/distance.hpp"
#include "bench/failure.hpp"

namespace notify {

inline constexpr int client = 0;
inline constexpr int server = 1;

/// Who this rank is, and who the other one.
struct Job {
  int rank = 0;
  int partner = 0;
  bool one_node = false;

  Job() {
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
      bench::fail("the benchmark is between two ranks, and the job has " + std::to_string(size) +
                  "; start it with -n 2.");
    }
    partner = 1 - rank;
    one_node = bench::Distance::one_node();
  }
};

}  // namespace notify
