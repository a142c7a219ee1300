// SPDX-License-Identifier: BSD-3-Clause
// A lock is requested when the locks asked for earlier are held, over all windows (E18). Without
// that, ranks that lock in one order wait for one another.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr ThreadSet first_thread = 1;
constexpr ThreadSet second_thread = 2;

/// Rank 0 asks for the locks that are looked at. Rank 3 holds some of them, and each further rank
/// tries one. Two windows have no reorder key, the third one access_after_access_reorder.
class LocksInOrder : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int a = 0;
  static constexpr int b = 1;
  static constexpr int reordered = 2;

  static constexpr int ranks = 16;

  LocksInOrder() : job_(nodes()) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
    job_.create_window(spec);
    spec.reorder.access_after_access = true;
    job_.create_window(spec);
  }

  Window& window(int rank, int number) { return job_.window(rank, number); }
  void ask(int number, int target, Assert assertion = {}, ThreadSet thread = all_threads) {
    ASSERT_EQ(window(0, number).lock(true, target, assertion, thread), Error::none);
  }
  void put(int rank, int number, int target) {
    issue(window(rank, number), on_word(OperationKind::put, &value_, target));
  }
  PostedCall& unlock(int rank, int number, int target) {
    PostedCall& posted = posted_.emplace_back();
    posted.take(window(rank, number).unlock(target, &posted));
    return posted;
  }
  /// Rank 3 holds the lock from now on.
  void hold(int number, int target) {
    ASSERT_EQ(window(3, number).lock(true, target, {}), Error::none);
    job_.run_until_idle();
  }
  void release(int number, int target) {
    unlock(3, number, target);
    job_.run_until_idle();
  }
  /// Whether another rank is granted the lock, which it gives back.
  bool is_free(int number, int target) {
    job_.run_until_idle();
    const int tries = next_++;
    EXPECT_EQ(window(tries, number).lock(true, target, {}), Error::none);
    put(tries, number, target);
    const PostedCall& posted = unlock(tries, number, target);
    job_.run_until_idle();
    return posted.done();
  }
  void unlock_all_of(std::vector<std::array<int, 2>> locks) {
    for (const auto& [number, target] : locks) unlock(0, number, target);
    job_.run_until_idle();
    for (const PostedCall& posted : posted_) EXPECT_TRUE(posted.done());
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(job_.process(rank).lock_order().empty());
      EXPECT_EQ(job_.process(rank).pending(), 0u);
    }
  }

  static std::vector<int> nodes() {
    std::vector<int> nodes(ranks);
    if (!GetParam()) std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }

  SimJob job_;
  int next_ = 4;
  std::uint64_t value_ = 7;
  std::deque<PostedCall> posted_;
};

TEST_P(LocksInOrder, ALaterLockIsRequestedWhenAnEarlierOneIsHeld) {
  for (const int later : {a, b}) {
    hold(a, 1);
    ask(a, 1);
    ask(later, 2);
    EXPECT_TRUE(is_free(later, 2));
    // No call of rank 0, only sweeps.
    release(a, 1);
    EXPECT_FALSE(is_free(later, 2));
    unlock_all_of({{a, 1}, {later, 2}});
  }
}

TEST_P(LocksInOrder, ItsOperationsAndItsEndWaitAsWell) {
  hold(a, 1);
  ask(a, 1);
  ask(b, 2);
  put(0, b, 2);
  const PostedCall& later = unlock(0, b, 2);
  EXPECT_TRUE(is_free(b, 2));
  EXPECT_FALSE(later.done());
  put(0, a, 1);
  const PostedCall& earlier = unlock(0, a, 1);
  // The earlier epoch is closed now, and its lock still to be granted.
  ask(b, 1);
  EXPECT_TRUE(is_free(b, 1));
  release(a, 1);
  EXPECT_TRUE(earlier.done());
  EXPECT_TRUE(later.done());
  EXPECT_FALSE(is_free(b, 1));
  unlock_all_of({{b, 1}});
}

TEST_P(LocksInOrder, ManyInARow) {
  hold(a, 1);
  ask(a, 1);
  for (const int target : {0, 2, 3}) ask(b, target);
  for (const int target : {0, 2, 3}) EXPECT_TRUE(is_free(b, target));
  // The second one of them is awaited, too.
  hold(b, 2);
  release(a, 1);
  EXPECT_FALSE(is_free(b, 0));
  EXPECT_TRUE(is_free(b, 3));
  release(b, 2);
  EXPECT_FALSE(is_free(b, 3));
  unlock_all_of({{a, 1}, {b, 0}, {b, 2}, {b, 3}});
}

// The lock of a deferred epoch has not been requested either.
TEST_P(LocksInOrder, DeferredEpochsKeepTheirPlace) {
  hold(a, 1);
  ask(a, 1);
  put(0, a, 1);
  unlock(0, a, 1);
  ask(a, 2);
  ask(b, 2);
  EXPECT_TRUE(is_free(a, 2));
  EXPECT_TRUE(is_free(b, 2));
  hold(a, 2);
  release(a, 1);
  EXPECT_TRUE(is_free(b, 2));
  release(a, 2);
  EXPECT_FALSE(is_free(b, 2));
  unlock_all_of({{a, 2}, {b, 2}});
}

TEST_P(LocksInOrder, NoCheckIsInNoOrder) {
  hold(a, 1);
  ask(b, 1, no_check());
  ask(a, 1);
  put(0, b, 1);
  const PostedCall& unchecked = unlock(0, b, 1);
  ask(b, 2, no_check());
  put(0, b, 2);
  const PostedCall& behind = unlock(0, b, 2);
  job_.run_until_idle();
  EXPECT_TRUE(unchecked.done());
  EXPECT_TRUE(behind.done());
  release(a, 1);
  unlock_all_of({{a, 1}});
}

// A closed epoch never holds one lock while it waits for another. It holds up no other window.
TEST_P(LocksInOrder, ClosedEpochsHoldUpNoLaterOnes) {
  hold(a, 1);
  ask(a, 1);
  put(0, a, 1);
  unlock(0, a, 1);
  for (const int number : {b, reordered}) {
    ask(number, 2);
    EXPECT_FALSE(is_free(number, 2));
  }
  release(a, 1);
  unlock_all_of({{b, 2}, {reordered, 2}});
}

TEST_P(LocksInOrder, EpochsThatWereOpenTogetherStayInOrder) {
  for (const int number : {a, reordered}) {
    hold(number, 1);
    ask(number, 1);
    ask(number, 2);
    EXPECT_TRUE(is_free(number, 2));
    put(0, number, 1);
    unlock(0, number, 1);
    EXPECT_TRUE(is_free(number, 2));
    ask(number, 3);
    EXPECT_TRUE(is_free(number, 3));
    release(number, 1);
    EXPECT_FALSE(is_free(number, 2));
    EXPECT_FALSE(is_free(number, 3));
    unlock_all_of({{number, 2}, {number, 3}});
  }
}

// G8: threads take their locks in orders of their own.
TEST_P(LocksInOrder, ThreadsAreInOrdersOfTheirOwn) {
  hold(a, 1);
  ask(a, 1, {}, first_thread);
  ask(b, 2, {}, second_thread);
  EXPECT_FALSE(is_free(b, 2));
  ask(b, 1, {}, no_threads);
  EXPECT_FALSE(is_free(b, 1));
  ask(b, 3, {}, further_threads);
  EXPECT_FALSE(is_free(b, 3));
  ask(b, 0, {}, first_thread);
  EXPECT_TRUE(is_free(b, 0));
  release(a, 1);
  EXPECT_FALSE(is_free(b, 0));
  unlock_all_of({{a, 1}, {b, 0}, {b, 1}, {b, 2}, {b, 3}});
}

// lock_all asks for a target's lock at the first operation to it.
TEST_P(LocksInOrder, LockAllIsInOrder) {
  hold(a, 1);
  ASSERT_EQ(window(0, b).lock_all({}), Error::none);
  put(0, b, 2);
  ask(a, 1);
  // The epoch was opened before that of the due lock.
  put(0, b, 3);
  EXPECT_FALSE(is_free(b, 3));
  hold(b, 1);
  put(0, b, 1);
  ask(a, 2);
  release(a, 1);
  EXPECT_TRUE(is_free(a, 2));
  release(b, 1);
  EXPECT_FALSE(is_free(a, 2));
  PostedCall& posted = posted_.emplace_back();
  posted.take(window(0, b).unlock_all(&posted));
  unlock_all_of({{a, 1}, {a, 2}});
}

TEST_P(LocksInOrder, LockAllWaitsForEarlierLocks) {
  hold(a, 1);
  ask(a, 1);
  ASSERT_EQ(window(0, b).lock_all({}), Error::none);
  put(0, b, 2);
  EXPECT_TRUE(is_free(b, 2));
  release(a, 1);
  EXPECT_FALSE(is_free(b, 2));
  PostedCall& posted = posted_.emplace_back();
  posted.take(window(0, b).unlock_all(&posted));
  unlock_all_of({{a, 1}});
}

// Each lock of a window that is freed in an error's wake is forgotten.
TEST_P(LocksInOrder, AWindowLeavesTheOrderWithItsEpochs) {
  hold(a, 1);
  ask(a, 1);
  ask(b, 2);
  job_.process(0).destroy_window(window(0, a));
  EXPECT_FALSE(is_free(b, 2));
  unlock(0, b, 2);
  job_.run_until_idle();
  EXPECT_TRUE(job_.process(0).lock_order().empty());
}

INSTANTIATE_TEST_SUITE_P(Placements, LocksInOrder, ::testing::Values(true, false),
                         [](const auto& one) { return one.param ? "Mapped" : "Remote"; });

}  // namespace
}  // namespace oriel::test
