// SPDX-License-Identifier: BSD-3-Clause
// The clock of a record, beside the system's.
#include "engine/process/tick_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

TEST(TickClock, UnstartedIsTheSystemsClock) {
  TickClock clock;
  const std::uint64_t before = nanoseconds_now();
  const std::uint64_t now = clock.now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, nanoseconds_now());
}

// Each reading of the system's clock serves for a millisecond, in which a rate that is wrong by 1 %
// leads 5 us away on average. Threads that lose their processor spoil single samples, so the median
// counts.
TEST(TickClock, RunsAtTheSystemsRate) {
  TickClock clock;
  clock.start();
  if (!clock.counts()) GTEST_SKIP() << "The kernel does not keep time by the time-stamp counter.";
  const std::uint64_t measured = nanoseconds_now() + 5 * millisecond;
  while (clock.now() < measured) {
  }
  std::vector<std::int64_t> distances;
  const std::uint64_t end = nanoseconds_now() + 20 * millisecond;
  for (std::uint64_t after = 0; after < end;) {
    const std::uint64_t before = nanoseconds_now();
    const std::uint64_t now = clock.now();
    after = nanoseconds_now();
    const std::uint64_t middle = before + (after - before) / 2;
    distances.push_back(std::abs(static_cast<std::int64_t>(now - middle)));
  }
  const auto median = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), median, distances.end());
  EXPECT_LT(*median, 1000);
}

// Each new reading of the system's clock may lie before what the counter has told.
TEST(TickClock, NeverGoesBack) {
  TickClock clock;
  clock.start();
  if (!clock.counts()) GTEST_SKIP() << "The kernel does not keep time by the time-stamp counter.";
  const std::uint64_t end = nanoseconds_now() + 50 * millisecond;
  std::uint64_t last = 0;
  while (last < end) {
    const std::uint64_t now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace

/// A clock whose readings are made: the counter has some three ticks in a nanosecond.
class TickClockTest : public testing::Test {
 protected:
  static constexpr std::uint64_t start = 5'000'000'000;

  /// The time at a reading `time` nanoseconds and `ticks` ticks behind the first one.
  std::uint64_t take(std::uint64_t time, std::uint64_t ticks) {
    return clock_.take({start + time, ticks}) - start;
  }
  std::uint64_t time_at(std::uint64_t ticks) const { return clock_.time_at(ticks) - start; }

  TickClock clock_;
};

namespace {

TEST_F(TickClockTest, IsNotSetBackWhereTheCounterWasAheadAndIsRightAfterAMillisecond) {
  EXPECT_EQ(take(0, 0), 0u);
  EXPECT_EQ(take(millisecond, 3'000'000), millisecond);
  EXPECT_NEAR(time_at(5'999'999), 2'000'000, 2);
  // The counter has gone too fast by a tenth.
  EXPECT_NEAR(take(1'900'000, 6'000'000), 2'000'000, 2);
  // It has 6.0 / 1.9 ticks in a nanosecond, so many in the next millisecond.
  constexpr std::uint64_t ticks = 3'157'894;
  EXPECT_NEAR(time_at(6'000'000 + ticks / 2), 2'450'000, 2);
  EXPECT_NEAR(time_at(6'000'000 + ticks), 2'900'000, 2);
  EXPECT_NEAR(take(2'900'000, 6'000'000 + ticks), 2'900'000, 2);
  EXPECT_NEAR(time_at(6'000'000 + 2 * ticks), 3'900'000, 2);  // not slower any more
}

}  // namespace
}  // namespace oriel
