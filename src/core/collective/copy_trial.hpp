// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/operation/protocol.hpp"

namespace oriel {

/// The order in which candidates, the ways to do one thing, carry out its first uses. The number of
/// a use, from 0, determines its candidate, so processes that count uses alike need no message.
///
/// Each round gives each candidate a burst of uses, so that changes in the program or on the
/// machine affect all of them. Each round begins with another candidate, so a periodic pattern in
/// the program does not always affect the same one.
struct TrialOrder {
  /// The first uses of a burst do not count: caches and buffers are as the use of another candidate
  /// has left them.
  static constexpr std::uint64_t cold = 2;

  std::uint64_t candidates;
  std::uint64_t rounds;
  std::uint64_t counted;  // uses of a burst that count

  constexpr std::uint64_t burst() const { return cold + counted; }
  constexpr std::uint64_t uses() const { return rounds * candidates * burst(); }
  /// The candidate that carries out use `use`, which is less than uses().
  constexpr std::size_t candidate(std::uint64_t use) const {
    const std::uint64_t number = use / burst();
    return (number + number / candidates) % candidates;
  }
  /// The number of such a use among those of its candidate that count; none: it does not count.
  constexpr std::optional<std::size_t> sample(std::uint64_t use) const {
    const std::uint64_t position = use % burst();
    if (position < cold) return std::nullopt;
    return use / burst() / candidates * counted + position - cold;
  }
};

/// Times that one side of a transfer has spent copying in its first uses, in nanoseconds.
struct TrialTimes {
  static constexpr std::uint64_t counted = 2;
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
/// In the first uses of a method the memory is in neither processor's caches. That makes a system
/// call slower, and may make cells faster than they are later, when each line comes from the other
/// processor's cache. Only the time of the copies counts, because waiting times depend on the
/// program, not on the method.
class CopyTrial {
  static constexpr TrialOrder order{.candidates = 3, .rounds = 1, .counted = TrialTimes::counted};

 public:
  static constexpr std::uint64_t uses_by_cells = 2 * order.burst();
  static constexpr std::uint64_t last = order.uses() + 1;

  /// The method of use `use`, which is at most `last`. Uses are numbered from 1.
  static CopyMethod way(std::uint64_t use) {
    return use == last ? CopyMethod::one_copy : static_cast<CopyMethod>(order.candidate(use - 1));
  }

  void spend(std::uint64_t nanoseconds) { spent_ += nanoseconds; }
  /// A use that has failed gets the longest time, so that it is not taken for a fast one.
  void fail() { spent_ = TrialTimes::never; }
  /// Records the time of use `use`, in which this side has finished its part.
  void end(std::uint64_t use) {
    const auto spent =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(spent_, TrialTimes::never));
    spent_ = 0;
    if (use == last) return;
    const std::optional<std::size_t> sample = order.sample(use - 1);
    if (!sample) return;
    if (const CopyMethod tried = way(use); tried == CopyMethod::one_copy) {
      times_.one_copy[*sample] = spent;
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
