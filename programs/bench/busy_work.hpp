// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "clock.hpp"

namespace bench {

/// Work of a known length: a fixed number of rounds of a loop, never a wait for a clock. A rank
/// that is preempted while it works still owes its remaining rounds, as a real computation would.
class BusyWork {
 public:
  BusyWork() {
    // The shortest of many trials is the one that nothing disturbed.
    double shortest = std::numeric_limits<double>::max();
    for (int trial = 0; trial < trials; ++trial) {
      const double begin = now_us();
      spin(trial_rounds);
      shortest = std::min(shortest, now_us() - begin);
    }
    rounds_per_us_ = static_cast<double>(trial_rounds) / shortest;
  }

  void work(double microseconds) {
    spin(static_cast<std::uint64_t>(microseconds * rounds_per_us_));
  }

 private:
  static constexpr int trials = 200;
  static constexpr std::uint64_t trial_rounds = 50'000;

  /// Each round depends on the one before it, so its duration is the processor's latency and does
  /// not change with what else the core could do in parallel.
  void spin(std::uint64_t rounds) {
    std::uint64_t state = state_;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      state = state * 6364136223846793005u + 1442695040888963407u;
    }
    state_ = state;
  }

  volatile std::uint64_t state_ =
      1;  // volatile: the result is used by nobody, but must be computed
  double rounds_per_us_ = 0;
};

}  // namespace bench
