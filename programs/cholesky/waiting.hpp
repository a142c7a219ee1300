// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <string>

#include "bench/failure.hpp"

namespace cholesky {

/// Where MPI has no call that waits: between two looks at memory that others write.
class Waiting {
 public:
  void pause() {
    if (++looks_ % looks_between_yields != 0) return;
    sched_yield();  // who is waited for may need this core
    const double now = MPI_Wtime();
    if (begin_ < 0) begin_ = now;
    if (now - begin_ < limit_s) return;
    bench::fail("nothing has arrived for " + std::to_string(limit_s) +
                " seconds; a rank hangs, or has lost a tile.");
  }

 private:
  static constexpr std::int64_t looks_between_yields = 64;
  static constexpr int limit_s = 60;

  std::int64_t looks_ = 0;
  double begin_ = -1;
};

}  // namespace cholesky
