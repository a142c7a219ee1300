// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/collective/copy_trial.hpp"

namespace oriel {

/// Selects which of several algorithms, the candidates, carries out each of the first starts of a
/// request, and records the time of these starts, which are numbered from 0. Candidate 0, a plan,
/// first carries out as many starts as the trials of its copies take. All candidates follow in the
/// order of a TrialOrder.
class StartTrial {
 public:
  explicit StartTrial(std::size_t candidates) : order_(order_of(candidates)), times_(candidates) {}

  /// The number of starts of a trial, without the two in which the ranks agree.
  static constexpr std::uint64_t starts(std::size_t candidates) {
    return CopyTrial::last + order_of(candidates).uses();
  }
  std::uint64_t starts() const { return starts(times_.size()); }
  /// The candidate that carries out start `start`, which is less than starts().
  std::size_t candidate(std::uint64_t start) const {
    return start < CopyTrial::last ? 0 : order_.candidate(start - CopyTrial::last);
  }
  /// Records that such a start took `time` microseconds on this rank.
  void record(std::uint64_t start, double time) {
    if (start < CopyTrial::last) return;
    const std::optional<std::size_t> sample = order_.sample(start - CopyTrial::last);
    if (sample) times_[candidate(start)].at(*sample) = time;
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
  static constexpr std::uint64_t rounds = 3;
  static constexpr std::uint64_t counted = 3;
  using Times = std::array<double, rounds * counted>;

  static constexpr TrialOrder order_of(std::size_t candidates) {
    return {.candidates = candidates, .rounds = rounds, .counted = counted};
  }

  TrialOrder order_;
  std::vector<Times> times_;  // by candidate
};

}  // namespace oriel
