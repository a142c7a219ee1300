// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace oriel {

/// What copying has taken one side of a transfer in its first uses, in nanoseconds.
struct TrialTimes {
  /// Of the uses of one way only the later ones count. The first ones meet memory that is in
  /// neither processor's caches: that makes a call slower, and may make cells faster than they will
  /// be when each line has to come from the other one.
  static constexpr std::uint64_t cold = 2;
  static constexpr std::uint64_t counted = 2;
  static constexpr std::uint64_t tries = cold + counted;

  std::uint32_t staged = std::numeric_limits<std::uint32_t>::max();  // the least
  /// By use, because the two sides share the bytes of each as it comes.
  std::array<std::uint32_t, counted> direct{};
};

/// One side's view of a transfer that can go by cells and directly. Which is faster hangs on the
/// processors, on how far apart the two are, on the system's way to copy and on what else goes on,
/// so both ways are tried: the first uses go by cells, the next ones directly, and from
/// `last` on the faster one is kept. Both sides decide alike, without a message: before they meet
/// for use `last`, which is direct as well, each leaves its times in the lane; when they have met,
/// each has those of both.
///
/// Only the time in the copies counts: waiting says more about the program than about the way.
class CopyTrial {
 public:
  static constexpr std::uint64_t staged_uses = TrialTimes::tries;
  static constexpr std::uint64_t last = 2 * TrialTimes::tries + 1;

  static bool direct(std::uint64_t use) { return use > staged_uses; }

  void spend(std::uint64_t nanoseconds) { spent_ += nanoseconds; }
  /// What failed has taken no time, and is not fast for that.
  void fail() { spent_ = std::numeric_limits<std::uint32_t>::max(); }
  /// Use `use` is over, as far as this side has a part in it.
  void end(std::uint64_t use) {
    const auto spent = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(spent_, std::numeric_limits<std::uint32_t>::max()));
    spent_ = 0;
    const std::uint64_t before = (use - 1) % TrialTimes::tries;  // uses of its way
    if (use == last || before < TrialTimes::cold) return;
    if (direct(use)) {
      times_.direct[static_cast<std::size_t>(before - TrialTimes::cold)] = spent;
    } else {
      times_.staged = std::min(times_.staged, spent);
    }
  }
  const TrialTimes& times() const { return times_; }

  /// The sums over both sides, which work at the same time in an exchange.
  static bool direct_is_faster(const TrialTimes& sender, const TrialTimes& receiver) {
    auto direct = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < sender.direct.size(); ++i) {
      direct = std::min(direct, std::uint64_t{sender.direct[i]} + receiver.direct[i]);
    }
    return direct < std::uint64_t{sender.staged} + receiver.staged;
  }

 private:
  TrialTimes times_;
  std::uint64_t spent_ = 0;  // in this use
};

}  // namespace oriel
