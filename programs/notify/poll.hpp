// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>

#include <string>

#include "bench/failure.hpp"

namespace notify {

/// Looks until `ready()`, for so long as a job may take. The MPI library is asked for progress
/// after every `looks_per_progress` looks: it may be what brings the awaited.
template <typename Ready>
void poll(Ready&& ready, int looks_per_progress, const char* awaited) {
  constexpr int progress_per_yield = 16;  // both ranks may be on one core
  constexpr double limit_s = 60;
  double begin = 0;
  for (int progress = 1;; ++progress) {
    for (int look = 0; look < looks_per_progress; ++look) {
      if (ready()) return;
    }
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (progress % progress_per_yield != 0) continue;
    ::sched_yield();
    if (begin == 0) begin = MPI_Wtime();
    if (MPI_Wtime() - begin > limit_s) {
      bench::fail(std::string(awaited) + " did not come within " +
                  std::to_string(static_cast<int>(limit_s)) +
                  " s; the MPI library lost it, or the other rank does not run.");
    }
  }
}

}  // namespace notify
