// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/collective/copy_trial.hpp"

namespace oriel {

/// Selects which of several algorithms, the candidates, carries out each of the first starts of a
/// request, and records the time of these starts. All ranks start a request equally often, so the
/// number of a start, from 0, determines its algorithm on all ranks without a message.
///
/// Candidate 0, a plan, first carries out as many starts as the trials of its copies take. Then
/// each round gives each candidate a burst of starts, so that changes in the program or on the
/// machine affect all of them. Each round begins with another candidate, so a periodic pattern in
/// the program does not always affect the same one.
class StartTrial {
 public:
  static constexpr std::uint64_t rounds = 3;
  static constexpr std::uint64_t cold = 2;  // first starts of a burst, which do not count
  static constexpr std::uint64_t counted = 3;

  explicit StartTrial(std::size_t candidates) : times_(candidates) {}

  std::size_t candidates() const { return times_.size(); }
  /// The number of starts of a trial, without the two in which the ranks agree.
  static constexpr std::uint64_t starts(std::size_t candidates) {
    return CopyTrial::last + rounds * candidates * burst;
  }
  std::uint64_t starts() const { return starts(candidates()); }
  /// The candidate that carries out start `start`, which is less than starts().
  std::size_t candidate(std::uint64_t start) const {
    if (start < CopyTrial::last) return 0;
    const std::uint64_t number = (start - CopyTrial::last) / burst;
    return (number + number / candidates()) % candidates();
  }
  /// Records that such a start took `time` microseconds on this rank.
  void record(std::uint64_t start, double time) {
    if (start < CopyTrial::last) return;
    const std::uint64_t after = start - CopyTrial::last;
    const std::uint64_t place = after % burst;
    if (place < cold) return;
    const std::uint64_t round = after / burst / candidates();
    times_[candidate(start)].at(round * counted + place - cold) = time;
  }
  /// The median time of the candidate's starts that count, on this rank. Only after the trial.
  double median(std::size_t candidate) const {
    Times sorted = times_[candidate];
    std::ranges::sort(sorted);
    return sorted.at(sorted.size() / 2);
  }

  /// The candidate with the least sum of all ranks' medians; the first of several. The slowest
  /// rank's median is not used, because one rank that waits for a late rank would then decide.
  static std::size_t fastest(std::span<const double> sums) {
    return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
  }

 private:
  static constexpr std::uint64_t burst = cold + counted;
  using Times = std::array<double, rounds * counted>;

  std::vector<Times> times_;  // by candidate
};

}  // namespace oriel
