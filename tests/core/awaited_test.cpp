// SPDX-License-Identifier: BSD-3-Clause
// The conditions that a window's epochs wait for, which the report of a stall names (B2).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Steps = std::vector<std::string>;

/// Four ranks, on one node or on nodes of their own.
class AwaitedSteps : public ::testing::TestWithParam<bool> {
 protected:
  AwaitedSteps() : job_(one_node() ? std::vector<int>{0, 0, 0, 0} : std::vector<int>{0, 1, 2, 3}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
  }
  static bool one_node() { return GetParam(); }
  Window& rank(int index) { return job_.window(index); }
  void put(int origin, int target) {
    issue(rank(origin), on_word(OperationKind::put, &value_, target));
  }
  /// Each condition that this rank waits for, with the rank that has to act, and of a lock the
  /// target.
  Steps awaited_by(int index) {
    static constexpr std::array names = {"exposure", "completion", "fence", "lock", "operations"};
    Steps steps;
    for (const Awaited& one : rank(index).epochs().awaited()) {
      steps.push_back(names[static_cast<std::size_t>(one.condition)] +
                      (" " + std::to_string(one.rank)) +
                      (one.target < 0 ? "" : " of " + std::to_string(one.target)));
    }
    std::ranges::sort(steps);
    return steps;
  }

  SimJob job_;
  std::uint64_t value_ = 7;
};

INSTANTIATE_TEST_SUITE_P(Nodes, AwaitedSteps, ::testing::Bool(), [](const auto& nodes) {
  return nodes.param ? "OfOneNode" : "OfSeveralNodes";
});

TEST_P(AwaitedSteps, NothingWhereNothingIsPending) {
  EXPECT_EQ(awaited_by(0), Steps{});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  EXPECT_EQ(awaited_by(0), Steps{});
}

TEST_P(AwaitedSteps, ThePostsOfTargets) {
  const std::array<int, 2> targets = {1, 3};
  const std::array<int, 1> origin = {0};
  ASSERT_EQ(rank(0).epochs().start(targets, {}), Error::none);
  for (const int target : targets) put(0, target);
  // Operations to a target on another node leave at once; the epoch after them has to wait.
  PostedCall completed;
  completed.take(rank(0).epochs().complete(&completed));
  job_.run_until_idle();
  EXPECT_EQ(awaited_by(0), (Steps{"exposure 1", "exposure 3"}));
  ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
  job_.run_until_idle();
  EXPECT_EQ(awaited_by(0), (Steps{"exposure 3"}));
  ASSERT_EQ(rank(3).epochs().post(origin, {}), Error::none);
  job_.run_until_idle();
  EXPECT_TRUE(completed.done());
  EXPECT_EQ(awaited_by(0), Steps{});
}

TEST_P(AwaitedSteps, TheCompletionOfOrigins) {
  const std::array<int, 3> origins = {1, 2, 3};
  const std::array<int, 1> target = {0};
  ASSERT_EQ(rank(0).epochs().post(origins, {}), Error::none);
  EXPECT_EQ(awaited_by(0), Steps{}) << "an open epoch waits for nobody";
  PostedCall waited;
  waited.take(rank(0).epochs().wait(&waited));
  ASSERT_EQ(rank(2).epochs().start(target, {}), Error::none);
  rank(2).epochs().complete(nullptr);
  job_.run_until_idle();
  EXPECT_EQ(awaited_by(0), (Steps{"completion 1", "completion 3"}));
}

TEST_P(AwaitedSteps, RanksOutsideAFence) {
  PostedCall fenced;
  fenced.take(rank(0).epochs().fence(no_succeed(), true, &fenced));
  PostedCall other;
  other.take(rank(2).epochs().fence(no_succeed(), true, &other));
  job_.run_until_idle();
  // Between nodes the ranks count who has come, and do not learn who has not.
  EXPECT_EQ(awaited_by(0), one_node() ? (Steps{"fence 1", "fence 3"}) : Steps{});
}

TEST_P(AwaitedSteps, TheHolderOfALock) {
  const std::string holder = one_node() ? "lock 2 of 1" : "lock -1 of 1";
  // The first to hold it exclusively keeps it, and so says by a word of its own that it holds it;
  // with a line it does so by the lock's word.
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(rank(2).lock(true, 1, {}), Error::none);
    put(2, 1);
    job_.run_until_idle();
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    put(0, 1);
    PostedCall unlocked;
    unlocked.take(rank(0).unlock(1, &unlocked));
    job_.run_until_idle();
    ASSERT_FALSE(unlocked.done());
    EXPECT_EQ(awaited_by(0), Steps{holder});
    PostedCall given_back;
    given_back.take(rank(2).unlock(1, &given_back));
    job_.run_until_idle();
    EXPECT_TRUE(unlocked.done());
  }
  // Held shared: nobody in particular.
  for (const int index : {2, 3}) {
    ASSERT_EQ(rank(index).lock(false, 1, {}), Error::none);
    put(index, 1);
  }
  job_.run_until_idle();
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  put(0, 1);
  PostedCall unlocked;
  unlocked.take(rank(0).unlock(1, &unlocked));
  job_.run_until_idle();
  EXPECT_EQ(awaited_by(0), (Steps{"lock -1 of 1"}));
}

}  // namespace
}  // namespace oriel::test
