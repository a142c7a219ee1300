// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace notify {

/// The mean of the middle half: a core that was taken away for a while does not move it, and it is
/// finer than the ticks of the clock.
inline double middle_mean(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);
  const auto begin = times.begin() + quarter;
  const auto end = times.end() - quarter;
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

/// Nanoseconds, for what is too short for a batch of its own: the clock knows what its own two
/// looks take.
class Clock {
 public:
  Clock() {
    std::vector<double> looks;
    for (int trial = 0; trial < trials; ++trial) {
      const double begin = now_ns();
      looks.push_back(now_ns() - begin);
    }
    cost_ns_ = middle_mean(std::move(looks));
  }

  static double now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
  }

  template <typename Call>
  double time_ns(Call&& call) const {
    const double begin = now_ns();
    call();
    return now_ns() - begin - cost_ns_;
  }

  /// Outside MPI for this long, and never asleep.
  static void compute(double ns) {
    const double end = now_ns() + ns;
    while (now_ns() < end) {
    }
  }

 private:
  static constexpr int trials = 1001;
  double cost_ns_ = 0;
};

}  // namespace notify
