// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "failure.hpp"

namespace bench {

/// Ends the job with a sentence unless it has two ranks. `program`: "test" or "benchmark".
inline void expect_two_ranks(const std::string& program) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 2) return;
  fail("the " + program + " is between two ranks, and the job has " + std::to_string(size) +
       "; start it with -n 2.");
}

}  // namespace bench
