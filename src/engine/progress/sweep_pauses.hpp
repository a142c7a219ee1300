// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/steps.hpp"

namespace oriel {

/// The pauses between the agent's rows of sweeps on a network that signals no arrivals. A row lasts
/// for a host interval at most. The first pause is as long, so sweeps take at most half of the time
/// while something moves or is under way; further pauses double, up to the longest.
class SweepPauses {
 public:
  static constexpr std::uint64_t longest_row = steps::host_interval_time;
  static constexpr long shortest = steps::host_interval_time;

  /// The next pause, in nanoseconds.
  long next(bool under_way, long longest) {
    const long pause = std::min(next_, longest);
    next_ = under_way ? shortest : std::min(2 * next_, longest);
    return pause;
  }
  /// Something has moved.
  void begin_again() { next_ = shortest; }

 private:
  long next_ = shortest;
};

}  // namespace oriel
