// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/operation/copy_method.hpp"

namespace oriel {

/// What copying has taken one side of a transfer in its first uses, in nanoseconds.
struct TrialTimes {
  /// Of the uses of one way only the later ones count. The first ones meet memory that is in
  /// neither processor's caches: that makes a call slower, and may make cells faster than they will
  /// be when each line has to come from the other one.
  static constexpr std::uint64_t cold = 2;
  static constexpr std::uint64_t counted = 2;
  static constexpr std::uint64_t tries = cold + counted;
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  std::array<std::uint32_t, 2> by_cells{never, never};  // staged and streamed: the least of each
  /// By use, because the two sides share the bytes of each as it comes.
  std::array<std::uint32_t, counted> one_copy{};
};

/// One side's view of a transfer that can go by cells and by one copy. Which is faster hangs on the
/// processors, on how far apart the two are, on the system's way to copy and on what else goes on,
/// so all ways are tried, one after the other: the first uses go by cells, filled in both manners,
/// the next ones by one copy, and from `last` on the fastest is kept. Both sides decide alike,
/// without a message: before they meet for use `last`, which is by one copy as well, each leaves
/// its times in the lane; when they have met, each has those of both.
///
/// Only the time in the copies counts: waiting says more about the program than about the way.
class CopyTrial {
 public:
  static constexpr std::uint64_t uses_by_cells = 2 * TrialTimes::tries;
  static constexpr std::uint64_t last = 3 * TrialTimes::tries + 1;

  /// Of a use up to the last.
  static CopyMethod way(std::uint64_t use) {
    if (use > uses_by_cells) return CopyMethod::one_copy;
    return use > TrialTimes::tries ? CopyMethod::streamed : CopyMethod::staged;
  }

  void spend(std::uint64_t nanoseconds) { spent_ += nanoseconds; }
  /// What failed has taken no time, and is not fast for that.
  void fail() { spent_ = TrialTimes::never; }
  /// Use `use` is over, as far as this side has a part in it.
  void end(std::uint64_t use) {
    const auto spent =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(spent_, TrialTimes::never));
    spent_ = 0;
    const std::uint64_t before = (use - 1) % TrialTimes::tries;  // uses of its way
    if (use == last || before < TrialTimes::cold) return;
    if (const CopyMethod tried = way(use); tried == CopyMethod::one_copy) {
      times_.one_copy[static_cast<std::size_t>(before - TrialTimes::cold)] = spent;
    } else {
      std::uint32_t& least = times_.by_cells[static_cast<std::size_t>(tried)];
      least = std::min(least, spent);
    }
  }
  const TrialTimes& times() const { return times_; }

  /// By the sums over both sides, which work at the same time in an exchange. Of ways that are as
  /// fast the one that comes first in CopyMethod.
  static CopyMethod fastest(const TrialTimes& sender, const TrialTimes& receiver) {
    const auto sum = [](std::uint32_t one, std::uint32_t other) {
      return std::uint64_t{one} + other;
    };
    std::array<std::uint64_t, 3> all{sum(sender.by_cells[0], receiver.by_cells[0]),
                                     sum(sender.by_cells[1], receiver.by_cells[1]),
                                     std::numeric_limits<std::uint64_t>::max()};
    for (std::size_t i = 0; i < sender.one_copy.size(); ++i) {
      all[2] = std::min(all[2], sum(sender.one_copy[i], receiver.one_copy[i]));
    }
    return static_cast<CopyMethod>(std::ranges::min_element(all) - all.begin());
  }

 private:
  TrialTimes times_;
  std::uint64_t spent_ = 0;  // in this use
};

}  // namespace oriel
