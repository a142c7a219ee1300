// SPDX-License-Identifier: BSD-3-Clause
// The choice of an alltoallv's algorithm (C4): by stored times, by what a trial has measured, or by
// a trial that is to come.
#include "engine/tuning/tuner.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/tuning/start_trial.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t trial_of_two = 2 * StartTrial::starts(2);
constexpr std::uint64_t trial_of_three = 2 * StartTrial::starts(3);

/// A tuner with one stored line: 4 ranks on one node, 64 bytes, notified 2 us, two_sided 1 us and
/// 100 us of making.
Tuner tuner_of_a_file() {
  return {"Xeon", "mpich 5", ExchangeTimes::parse("Xeon\tmpich 5\t4\t1\t64\t2\t1\t0\t100\n")};
}

Tuner tuner_of_nothing() {
  return {"Xeon", "mpich 5", {}};
}

Tuner::Exchange exchange_of(std::uint64_t bytes) {
  return {.ranks = 4, .longest = bytes, .starts = {}};
}

/// The measurement of a trial of exchanges of `bytes` bytes.
ExchangeTimes::Line trial_of(std::uint64_t bytes, double notified, double two_sided) {
  ExchangeTimes::Line line;
  line.ranks = 4;
  line.nodes = 1;
  line.bytes = bytes;
  line.of(Algorithm::notified).start = notified;
  line.of(Algorithm::two_sided).start = two_sided;
  return line;
}

TEST(Tuner, ChoosesByTheStoredTimes) {
  const Tuner tuner = tuner_of_a_file();
  const Tuner::Choice choice = tuner.choose(exchange_of(1 << 20));
  EXPECT_EQ(choice.algorithm, Algorithm::two_sided);
  ASSERT_TRUE(choice.line);
  EXPECT_EQ(choice.line->bytes, 64u);
}

TEST(Tuner, CountsTheMakingWhereItKnowsTheStarts) {
  Tuner::Exchange exchange = exchange_of(64);
  exchange.starts = 99;
  EXPECT_EQ(tuner_of_a_file().choose(exchange).algorithm, Algorithm::notified);
  exchange.starts = 101;
  EXPECT_EQ(tuner_of_a_file().choose(exchange).algorithm, Algorithm::two_sided);
}

TEST(Tuner, PrefersATrialOfAboutTheLength) {
  Tuner tuner = tuner_of_a_file();
  tuner.learn(trial_of(1024, 1, 3));
  for (const std::uint64_t near : {512, 1024, 2048}) {
    EXPECT_EQ(tuner.choose(exchange_of(near)).algorithm, Algorithm::notified) << near;
  }
  for (const std::uint64_t far : {8, 511, 2049}) {
    EXPECT_EQ(tuner.choose(exchange_of(far)).algorithm, Algorithm::two_sided) << far;
  }
}

TEST(Tuner, KeepsTheLastTrialOfALength) {
  Tuner tuner = tuner_of_nothing();
  tuner.learn(trial_of(64, 1, 3));
  tuner.learn(trial_of(64, 3, 1));
  EXPECT_EQ(tuner.choose(exchange_of(64)).algorithm, Algorithm::two_sided);
}

TEST(Tuner, TriesWhatIsNotMeasured) {
  const Tuner::Choice choice = tuner_of_nothing().choose(exchange_of(64));
  EXPECT_EQ(choice.algorithm, Algorithm::automatic);
  EXPECT_FALSE(choice.line);
  Tuner::Exchange elsewhere = exchange_of(64);
  elsewhere.several_nodes = true;
  EXPECT_EQ(tuner_of_a_file().choose(elsewhere).algorithm, Algorithm::automatic);
  EXPECT_EQ(Tuner("Xeon", "mpich 6", ExchangeTimes()).choose(exchange_of(64)).algorithm,
            Algorithm::automatic);
}

TEST(Tuner, TriesOnlyWhatIsStartedOftenEnough) {
  Tuner::Exchange exchange = exchange_of(64);
  for (const bool seldom : {false, true}) {
    exchange.seldom_started = seldom;
    exchange.starts = trial_of_two;
    EXPECT_EQ(tuner_of_nothing().choose(exchange).algorithm, Algorithm::automatic);
    exchange.starts = trial_of_two - 1;
    EXPECT_EQ(tuner_of_nothing().choose(exchange).algorithm, Algorithm::notified);
    exchange.starts.reset();
    EXPECT_EQ(tuner_of_nothing().choose(exchange).algorithm,
              seldom ? Algorithm::notified : Algorithm::automatic);
  }
  exchange.gathers = true;
  exchange.starts = trial_of_three - 1;
  EXPECT_EQ(tuner_of_nothing().choose(exchange).algorithm, Algorithm::notified);
  exchange.starts = trial_of_three;
  EXPECT_EQ(tuner_of_nothing().choose(exchange).algorithm, Algorithm::automatic);
}

TEST(Tuner, TriesNothingWhereNothingIsSent) {
  EXPECT_EQ(tuner_of_nothing().choose(exchange_of(0)).algorithm, Algorithm::notified);
  EXPECT_EQ(tuner_of_nothing().choose({.ranks = 1, .longest = 64, .starts = {}}).algorithm,
            Algorithm::notified);
}

TEST(Tuner, MeasuresCopiesOnce) {
  const CopyCosts& costs = Tuner::copy_costs();
  EXPECT_GE(costs.worth_a_call, std::uint64_t{64} << 10);
  EXPECT_LE(costs.worth_a_call, std::uint64_t{1} << 20);
  EXPECT_EQ(&costs, &Tuner::copy_costs());
}

}  // namespace
}  // namespace oriel::test
