// SPDX-License-Identifier: BSD-3-Clause
// A transfer between mapped ranks that can be copied once or twice (C4): all ways are tried, both
// sides keep the fastest.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/collective/copy_trial.hpp"
#include "support/plans.hpp"

namespace oriel::test {
namespace {

/// One side that spends so much in each of its first uses.
TrialTimes times_of(std::initializer_list<std::uint64_t> spent) {
  CopyTrial trial;
  std::uint64_t use = 0;
  for (const std::uint64_t nanoseconds : spent) {
    trial.spend(nanoseconds);
    trial.end(++use);
  }
  return trial.times();
}

CopyMethod fastest(std::initializer_list<std::uint64_t> sender,
                   std::initializer_list<std::uint64_t> receiver) {
  return CopyTrial::fastest(times_of(sender), times_of(receiver));
}

TEST(CopyTrial, GoesByTheLeastOfBothSides) {
  EXPECT_EQ(fastest({900, 900, 60, 50, 900, 900, 900, 51, 900, 900, 101, 400},
                    {900, 900, 52, 70, 900, 900, 52, 900, 0, 0, 0, 0}),
            CopyMethod::one_copy);
  EXPECT_EQ(fastest({900, 900, 60, 50, 900, 900, 900, 51, 900, 900, 400, 103},
                    {900, 900, 52, 70, 900, 900, 52, 900, 0, 0, 0, 0}),
            CopyMethod::staged);
  EXPECT_EQ(fastest({900, 900, 60, 50, 900, 900, 900, 50, 900, 900, 400, 103},
                    {900, 900, 52, 70, 900, 900, 51, 900, 0, 0, 0, 0}),
            CopyMethod::streamed);
}

TEST(CopyTrial, TakesTheFirstOfWaysThatAreAsFast) {
  EXPECT_EQ(fastest({1, 1, 50, 50, 1, 1, 50, 50, 1, 1, 100, 100},
                    {1, 1, 50, 50, 1, 1, 50, 50, 0, 0, 0, 0}),
            CopyMethod::staged);
  EXPECT_EQ(fastest({1, 1, 51, 51, 1, 1, 50, 50, 1, 1, 100, 100},
                    {1, 1, 50, 50, 1, 1, 50, 50, 0, 0, 0, 0}),
            CopyMethod::streamed);
}

TEST(CopyTrial, AddsWhatBothHaveSpentInOneDirectUse) {
  // Each side has a use in which the other one has moved all.
  EXPECT_EQ(fastest({50, 50, 50, 50, 99, 99, 99, 99, 9, 9, 200, 0},
                    {50, 50, 50, 50, 99, 99, 99, 99, 9, 9, 0, 200}),
            CopyMethod::staged);
}

TEST(CopyTrial, LeavesOutTheFirstUsesOfEachWay) {
  EXPECT_EQ(fastest({1, 1, 50, 50, 1, 1, 60, 60, 900, 900, 49, 900},
                    {1, 1, 50, 50, 1, 1, 60, 60, 900, 900, 50, 900}),
            CopyMethod::one_copy);
  EXPECT_EQ(fastest({900, 900, 50, 50, 1, 1, 60, 60, 1, 1, 51, 900},
                    {900, 900, 50, 50, 1, 1, 60, 60, 1, 1, 50, 900}),
            CopyMethod::staged);
  EXPECT_EQ(fastest({1, 1, 50, 50, 900, 900, 40, 40, 1, 1, 51, 900},
                    {1, 1, 50, 50, 900, 900, 40, 40, 1, 1, 50, 900}),
            CopyMethod::streamed);
}

TEST(CopyTrial, CountsAllPiecesOfAUse) {
  CopyTrial trial;
  for (std::uint64_t use = 1; use <= CopyTrial::uses_by_cells; ++use) {
    trial.spend(20);
    trial.spend(30);
    trial.end(use);
  }
  EXPECT_EQ(trial.times().by_cells[0], 50u);
  EXPECT_EQ(trial.times().by_cells[1], 50u);
}

TEST(CopyTrial, DoesNotWrapWhereASideWasStopped) {
  const std::uint64_t four_seconds = std::uint64_t{1} << 32;
  const TrialTimes stopped = times_of({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, four_seconds, four_seconds});
  EXPECT_EQ(CopyTrial::fastest(stopped, stopped), CopyMethod::staged);
}

/// A message that takes eight pieces by cells and one call directly.
class Trial {
 public:
  Trial() : plans_({0, 0}, limits()), passage_(plans_.pass(0, 1, words)) { plans_.make(); }

  static constexpr std::size_t words = 40;

  void set_copy_nanoseconds(std::uint64_t nanoseconds) {
    for (int rank = 0; rank < 2; ++rank) {
      plans_.job().transport(rank).set_copy_nanoseconds(nanoseconds);
    }
  }
  /// One use, begun by that rank; whether its bytes come, and how many system calls it takes.
  std::uint64_t use(int first) {
    const std::uint64_t before = copies();
    std::uint64_t value = ++content_ * 1000;
    for (std::uint64_t& word : *passage_.from) word = ++value;
    plans_.start(first);
    plans_.job().run_until_idle();
    plans_.start(1 - first);
    plans_.job().run_until_idle();
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(plans_.completed(rank));
      EXPECT_EQ(plans_.error(rank), Error::none);
    }
    EXPECT_EQ(*passage_.into, *passage_.from);
    return copies() - before;
  }
  /// One in which the system refuses to copy.
  void use_in_vain() {
    for (int rank = 0; rank < 2; ++rank) plans_.job().transport(rank).set_refusing(true);
    for (int rank = 0; rank < 2; ++rank) plans_.start(rank);
    plans_.job().run_until_idle();
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(plans_.error(rank), Error::system);
      plans_.job().transport(rank).set_refusing(false);
    }
  }
  /// Uses until the ways have been tried: as many calls as uses that go directly.
  void try_all() {
    for (std::uint64_t use = 1; use <= CopyTrial::last; ++use) {
      EXPECT_EQ(this->use(static_cast<int>(use % 2)),
                CopyTrial::way(use) == CopyMethod::one_copy ? 1u : 0u)
          << use;
    }
  }

 private:
  static Limits limits() {
    Limits limits = limits_of_plans();
    limits.staged = 1000;
    limits.shared_fragment = 512;
    return limits;
  }
  std::uint64_t copies() {
    return plans_.job().transport(0).copies() + plans_.job().transport(1).copies();
  }

  Plans plans_;
  Plans::Passage passage_;
  std::uint64_t content_ = 0;
};

TEST(CopyTrial, KeepsTheSystemsCallWhereItIsFaster) {
  Trial trial;
  trial.set_copy_nanoseconds(0);
  trial.try_all();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(trial.use(i % 2), 1u);
}

TEST(CopyTrial, KeepsTheCellsWhereTheCallIsSlow) {
  Trial trial;
  trial.set_copy_nanoseconds(1000);
  trial.try_all();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(trial.use(i % 2), 0u);
}

TEST(CopyTrial, IsOverOnceItIsDecided) {
  Trial trial;
  trial.set_copy_nanoseconds(1000);
  trial.try_all();
  trial.set_copy_nanoseconds(0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(trial.use(i % 2), 0u);
}

// What is refused takes no time.
TEST(CopyTrial, DoesNotKeepAWayThatFails) {
  Trial trial;
  trial.set_copy_nanoseconds(0);
  for (std::uint64_t i = 0; i < CopyTrial::uses_by_cells; ++i) trial.use(static_cast<int>(i % 2));
  for (std::uint64_t i = CopyTrial::uses_by_cells + 1; i < CopyTrial::last; ++i)
    trial.use_in_vain();
  EXPECT_EQ(trial.use(0), 1u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(trial.use(i % 2), 0u);
}

}  // namespace
}  // namespace oriel::test
