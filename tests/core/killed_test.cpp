// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node find that one of them has left behind, killed between two stores that
// belong together: nobody waits for it, the calls fail and name it (B4).
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr int victim = 3;

/// Ranks 0 to 3 on one node, rank 4 on another one. All know that rank 3 has ended.
class Killed : public ::testing::Test {
 protected:
  Killed() : job_({0, 0, 0, 0, 1}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
    for (int rank = 0; rank < job_.ranks(); ++rank) job_.transport(rank).set_ended(victim);
  }
  Window& rank(int index) { return job_.window(index); }
  ControlBlock& control(int target) { return *rank(0).member(target).control; }
  Operation sum(int target) { return on_word(OperationKind::accumulate, &one_, target); }
  std::uint64_t word(int target) {
    return *reinterpret_cast<const std::uint64_t*>(job_.memory(target));
  }
  /// The victim has begun an update of the target, and does not come back.
  void die_updating(int target) {
    static const std::vector<int> ranks{0, 1, 2, 3};
    static Sharers sharers(
        job_.transport(victim), victim, [](int sharer) { return sharer; }, ranks);
    alignas(Update) static std::byte unfinished[sizeof(Update)];
    new (unfinished) Update(control(target), sharers, false);
  }

  SimJob job_;
  std::uint64_t one_ = 1;
};

TEST_F(Killed, WithinAnAccumulate) {
  die_updating(1);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rank(0).epochs().issue(sum(1)).error, Error::peer_lost);
    EXPECT_NE(std::string(rank(0).reason()).find("rank 3"), std::string::npos) << rank(0).reason();
  }
  EXPECT_EQ(word(1), 0u);
  // Other targets, and operations that wait for nobody, are as they were.
  issue(rank(0), sum(2));
  issue(rank(0), on_word(OperationKind::put, &one_, 1, 8));
  Flag unlocked;
  EXPECT_TRUE(rank(0).unlock_all(&unlocked).done);
  EXPECT_EQ(word(2), 1u);
}

// Whoever comes next would have to wait for its turn.
TEST_F(Killed, WithinItsTurn) {
  control(1).updater.store(Update::turns);
  die_updating(1);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  EXPECT_EQ(rank(0).epochs().issue(sum(1)).error, Error::peer_lost);
  EXPECT_NE(std::string(rank(0).reason()).find("rank 3"), std::string::npos) << rank(0).reason();
  EXPECT_EQ(word(1), 0u);
  issue(rank(0), sum(2));
  EXPECT_EQ(word(2), 1u);
}

// What a dead thread was updating is found in its line, whatever the window.
TEST_F(Killed, WithinAnAccumulateOfAThread) {
  SimWindowSpec spec;
  spec.bytes = 64;
  const int other = job_.create_window(spec);
  ThreadLines& threads = job_.network().threads(victim);
  threads.used = 1;
  threads.lines[0].updating = job_.window(0, other).member(1).control->name;
  control(1).updater.store(Update::everybody);
  job_.window(0, other).member(1).control->updater.store(Update::everybody);
  Operation element = sum(1);
  element.displacement = 3;  // no CPU atomic can do it
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  issue(rank(0), element);
  Window& same = job_.window(0, other);
  ASSERT_EQ(same.lock_all({}), Error::none);
  EXPECT_EQ(same.epochs().issue(element).error, Error::peer_lost);
  EXPECT_NE(std::string(same.reason()).find("rank 3"), std::string::npos) << same.reason();
}

TEST_F(Killed, WhileTheRightToUpdateChangesHands) {
  control(1).updater.store(std::uint32_t{1} << 31 | victim);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rank(0).epochs().issue(sum(1)).error, Error::peer_lost);
  issue(rank(0), sum(2));
  EXPECT_EQ(word(2), 1u);
}

// Its right to update alone does not die with it when it was not within an update.
TEST_F(Killed, BetweenTwoAccumulates) {
  die_updating(1);
  control(1).slots()[victim].updating.store(0);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  issue(rank(0), sum(1));
  EXPECT_EQ(word(1), 1u);
}

// The target's engine carries out what comes from other nodes.
TEST_F(Killed, WithinAnAccumulateThatOthersAskFor) {
  die_updating(1);
  ASSERT_EQ(rank(4).lock(false, 1, {}), Error::none);
  issue(rank(4), sum(1));
  Flag unlocked;
  ASSERT_TRUE(rank(4).unlock(1, &unlocked).ok());
  job_.run_until_idle();
  ASSERT_TRUE(unlocked.done());
  EXPECT_EQ(unlocked.error(), Error::peer_lost);
}

TEST_F(Killed, WithinAnAccumulateWhosePiggybackIsPerformed) {
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  issue(rank(0), on_word(OperationKind::put, &one_, 1, 8));
  ASSERT_EQ(rank(2).lock(true, 1, {}), Error::none);
  issue(rank(2), sum(1));
  Flag waiting;
  ASSERT_FALSE(rank(2).unlock(1, &waiting).done) << "rank 0 has the lock";
  die_updating(1);
  Flag unlocked;
  ASSERT_TRUE(rank(0).unlock(1, &unlocked).done);
  job_.run_until_idle();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(waiting.error(), Error::peer_lost);
  // The lock has been given back with it.
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  EXPECT_TRUE(rank(0).epochs().try_hold_lock(1));
}

TEST_F(Killed, WithTheGuardOfALock) {
  control(1).lock.line.store(std::uint64_t{victim + 1} << 32);
  for (const int origin : {0, 2}) {
    ASSERT_EQ(rank(origin).lock(true, 1, {}), Error::none);
    issue(rank(origin), on_word(OperationKind::put, &one_, 1));
    Flag unlocked;
    ASSERT_FALSE(rank(origin).unlock(1, &unlocked).done);
    job_.run_until_idle();
    EXPECT_FALSE(unlocked.done());
    EXPECT_EQ(rank(origin).epochs().lost_peer(), victim);
    ASSERT_EQ(rank(origin).lock(true, 2, {}), Error::none);
    issue(rank(origin), on_word(OperationKind::put, &one_, 2));
  }
  EXPECT_EQ(word(1), 0u);
}

// Whoever holds the lock then gives it back and goes on; whoever keeps it has it for ever.
TEST_F(Killed, WithTheGuardOfALockThatOthersHold) {
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  ASSERT_TRUE(rank(0).epochs().try_hold_lock(1));
  control(1).lock.line.store(std::uint64_t{victim + 1} << 32 | 1);
  for (int i = 0; i < 3; ++i) {
    issue(rank(0), on_word(OperationKind::put, &one_, 1));
    Flag unlocked;
    EXPECT_TRUE(rank(0).unlock(1, &unlocked).done);
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    EXPECT_TRUE(rank(0).epochs().try_hold_lock(1));
  }
}

// A thread raises the error of its call when other calls may have failed.
TEST_F(Killed, TheTextOfAnEarlierLossStays) {
  constexpr int next_victim = 2;
  const auto lose = [this](int lost) {
    job_.transport(0).set_ended(lost);
    control(1).updater.store(std::uint32_t{1} << 31 | static_cast<std::uint32_t>(lost));
    EXPECT_EQ(rank(0).epochs().issue(sum(1)).error, Error::peer_lost);
    return rank(0).reason();
  };
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  const char* earlier = lose(victim);
  EXPECT_NE(std::string(lose(next_victim)).find("rank 2"), std::string::npos);
  EXPECT_NE(std::string(earlier).find("rank 3"), std::string::npos) << earlier;
}

}  // namespace
}  // namespace oriel::test
