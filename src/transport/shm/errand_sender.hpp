// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/published.hpp"

namespace oriel {

/// Decides whether to leave errands for a process. A process that computes does not answer. After
/// an errand without an answer the next operations use system calls, so that little time is lost.
/// Used by any thread: a lost update of a count does no harm.
class ErrandSender {
 public:
  bool may_ask() {
    const std::uint32_t left = pause_.load();
    if (left == 0) return true;
    pause_.store(left - 1);
    return false;
  }
  void note(bool carried_out) {
    const std::uint32_t penalty = penalty_.load();
    if (carried_out) {
      if (penalty != 0) penalty_.store(penalty / 2);
      return;
    }
    const std::uint32_t next = std::clamp(2 * penalty, least_pause, most_pause);
    penalty_.store(next);
    pause_.store(next);
  }

 private:
  static constexpr std::uint32_t least_pause = 16;
  static constexpr std::uint32_t most_pause = 1024;

  Published<std::uint32_t> pause_;
  Published<std::uint32_t> penalty_;
};

}  // namespace oriel
