// SPDX-License-Identifier: BSD-3-Clause
// The trial of a request's first starts (C4): which algorithm each goes by, which count, and what
// all ranks choose by the same numbers.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/tuning/start_trial.hpp"

namespace oriel::test {
namespace {

/// Each start takes what `time(start)` says.
template <typename Time>
StartTrial played(std::size_t candidates, Time&& time) {
  StartTrial trial(candidates);
  for (std::uint64_t start = 0; start < trial.starts(); ++start) trial.record(start, time(start));
  return trial;
}

std::uint64_t place_in_burst(std::uint64_t start) {
  return (start - CopyTrial::last) % 5;
}

TEST(StartTrial, TriesCopiesFirstAndThenAllInTurn) {
  const StartTrial trial(3);
  EXPECT_EQ(trial.starts(), CopyTrial::last + 45);
  std::vector<std::size_t> bursts;
  for (std::uint64_t start = 0; start < trial.starts(); ++start) {
    if (start < CopyTrial::last) {
      EXPECT_EQ(trial.candidate(start), 0u) << start;
    } else if (place_in_burst(start) == 0) {
      bursts.push_back(trial.candidate(start));
    } else {
      EXPECT_EQ(trial.candidate(start), bursts.back()) << start;
    }
  }
  EXPECT_EQ(bursts, (std::vector<std::size_t>{0, 1, 2, 1, 2, 0, 2, 0, 1}));
}

TEST(StartTrial, CountsNoColdStart) {
  const StartTrial order(2);
  const StartTrial trial = played(2, [&](std::uint64_t start) {
    const bool counts = start >= CopyTrial::last && place_in_burst(start) >= TrialOrder::cold;
    if (!counts) return 1e9;
    return order.candidate(start) == 0 ? 5.0 : 4.0;
  });
  EXPECT_EQ(trial.median(0), 5);
  EXPECT_EQ(trial.median(1), 4);
}

TEST(StartTrial, ForgivesAlmostHalfOfTheStarts) {
  std::array<int, 2> seen{};
  const StartTrial order(2);
  const StartTrial trial = played(2, [&](std::uint64_t start) {
    if (start < CopyTrial::last || place_in_burst(start) < TrialOrder::cold) return 0.0;
    const std::size_t candidate = order.candidate(start);
    // Each counted start has another time: all are kept.
    const int number = seen.at(candidate)++;
    return number < 4 ? 1000.0 + number : 10.0 + static_cast<double>(candidate);
  });
  EXPECT_EQ(seen, (std::array<int, 2>{9, 9}));
  EXPECT_EQ(trial.median(0), 10);
  EXPECT_EQ(trial.median(1), 11);
}

TEST(StartTrial, ChoosesTheFirstOfTheFastest) {
  EXPECT_EQ(StartTrial::fastest(std::array<double, 3>{2, 1, 1}), 1u);
  EXPECT_EQ(StartTrial::fastest(std::array<double, 3>{1, 1, 1}), 0u);
}

}  // namespace
}  // namespace oriel::test
