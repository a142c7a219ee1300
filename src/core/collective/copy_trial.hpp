// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/operation/copy_method.hpp"

namespace oriel {

/// Times that one side of a transfer has spent copying in its first uses, in nanoseconds.
struct TrialTimes {
  /// Only the later uses of each method count. In the first ones the memory is in neither
  /// processor's caches. That makes a system call slower, and may make cells faster than they are
  /// later, when each line comes from the other processor's cache.
  static constexpr std::uint64_t cold = 2;
  static constexpr std::uint64_t counted = 2;
  static constexpr std::uint64_t tries = cold + counted;
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  std::array<std::uint32_t, 2> by_cells{never, never};  // least times: staged, streamed
  /// One for each use, because the two sides divide the bytes differently each time.
  std::array<std::uint32_t, counted> one_copy{};
};

/// One side's part in the choice of a transfer's method: through cells or by one copy. Which one is
/// faster depends on the processors, on their distance, on how the system copies, and on other
/// load. So each side measures all methods:
///   1. The first uses go through cells, filled by usual stores, then by streaming stores.
///   2. The next uses go by one copy.
///   3. Use `last` also goes by one copy. A side stores its times in the lane before it arrives for
///      that use. When both have met, each side has the times of both.
///   4. After use `last` the transfer keeps the fastest method.
/// Both sides decide alike, without a message.
///
/// Only the time of the copies counts, because waiting times depend on the program, not on the
/// method.
class CopyTrial {
 public:
  static constexpr std::uint64_t uses_by_cells = 2 * TrialTimes::tries;
  static constexpr std::uint64_t last = 3 * TrialTimes::tries + 1;

  /// The method of use `use`, which is at most `last`.
  static CopyMethod way(std::uint64_t use) {
    if (use > uses_by_cells) return CopyMethod::one_copy;
    return use > TrialTimes::tries ? CopyMethod::streamed : CopyMethod::staged;
  }

  void spend(std::uint64_t nanoseconds) { spent_ += nanoseconds; }
  /// A use that has failed gets the longest time, so that it is not taken for a fast one.
  void fail() { spent_ = TrialTimes::never; }
  /// Records the time of use `use`, in which this side has finished its part.
  void end(std::uint64_t use) {
    const auto spent =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(spent_, TrialTimes::never));
    spent_ = 0;
    const std::uint64_t before = (use - 1) % TrialTimes::tries;  // earlier uses of its method
    if (use == last || before < TrialTimes::cold) return;
    if (const CopyMethod tried = way(use); tried == CopyMethod::one_copy) {
      times_.one_copy[static_cast<std::size_t>(before - TrialTimes::cold)] = spent;
    } else {
      std::uint32_t& least = times_.by_cells[static_cast<std::size_t>(tried)];
      least = std::min(least, spent);
    }
  }
  const TrialTimes& times() const { return times_; }

  /// The method with the least sum of both sides' times, because in an exchange both sides copy at
  /// the same time. Among equally fast methods the first one in CopyMethod.
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
