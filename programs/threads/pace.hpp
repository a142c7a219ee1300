// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace threads {

/// How many operations a thread has made in how long.
struct Pace {
  std::int64_t operations = 0;
  double seconds = 0;

  Pace& operator+=(const Pace& other) {
    operations += other.operations;
    seconds += other.seconds;
    return *this;
  }
  double us() const { return 1e6 * seconds / static_cast<double>(operations); }
};

/// Makes operations, one at least, until `stop` says so, which is told how long it has been. It is
/// asked after one operation, then after more and more as long as they are short: the clock may
/// take longer than one of them.
template <typename Operation, typename Stop>
Pace keep_on(const Operation& operation, const Stop& stop) {
  constexpr double short_s = 0.0001;
  Pace pace;
  const double begin = MPI_Wtime();
  for (std::int64_t between_looks = 1;;) {
    for (std::int64_t index = 0; index < between_looks; ++index) operation();
    pace.operations += between_looks;
    const double before = pace.seconds;
    pace.seconds = MPI_Wtime() - begin;
    if (stop(pace.seconds)) return pace;
    if (pace.seconds - before < short_s) between_looks *= 2;
  }
}

}  // namespace threads
