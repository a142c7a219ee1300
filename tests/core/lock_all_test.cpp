// SPDX-License-Identifier: BSD-3-Clause
// lock_all epochs take the locks of what can be loaded without a call at their opening, those of
// other targets one by one, among others that hold single ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Ranks on one node, or each on a node of its own.
class LockAll : public ::testing::TestWithParam<bool> {
 protected:
  LockAll() {
    SimWindowSpec spec;
    spec.bytes = sizeof(std::uint64_t);
    job_.create_window(spec);
  }
  static bool remote() { return GetParam(); }
  Window& rank(int index) { return job_.window(index); }
  void put(int origin, int target) {
    issue(rank(origin), on_word(OperationKind::put, &value_, target));
  }
  std::uint64_t word(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner), sizeof value);
    return value;
  }

  SimJob job_{remote() ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 0, 0, 0}};
  std::uint64_t value_ = 7;
};

INSTANTIATE_TEST_SUITE_P(Nodes, LockAll, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Remote" : "Mapped"; });

// Two epochs have a lock each that the other one wants, and an exclusive request waits for each of
// the two. Whoever waited behind those would wait for ever.
TEST_P(LockAll, TwoOfThemPassTheExclusiveRequestsBetweenThem) {
  std::array<PostedCall, 4> posted;
  for (const int reader : {0, 1}) {
    ASSERT_EQ(rank(reader).lock_all({}), Error::none);
    put(reader, 2 + reader);
    PostedCall flushed;
    flushed.take(rank(reader).epochs().flush(2 + reader, false, &flushed));
    job_.run_until_idle();
    ASSERT_TRUE(flushed.done());
  }
  for (const int writer : {2, 3}) {
    ASSERT_EQ(rank(writer).lock(true, writer, {}), Error::none);
    put(writer, writer);
    posted[static_cast<std::size_t>(writer)].take(
        rank(writer).unlock(writer, &posted[static_cast<std::size_t>(writer)]));
  }
  job_.run_until_idle();
  for (const int reader : {0, 1}) {
    put(reader, 3 - reader);
    PostedCall flushed;
    flushed.take(rank(reader).epochs().flush(3 - reader, false, &flushed));
    job_.run_until_idle();
    EXPECT_TRUE(flushed.done());
  }
  EXPECT_FALSE(posted[2].done() || posted[3].done());
  for (const int reader : {0, 1}) {
    PostedCall& one = posted[static_cast<std::size_t>(reader)];
    one.take(rank(reader).unlock_all(&one));
  }
  job_.run_until_idle();
  for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
}

// A request that came while the lock was held exclusively joins those that get it then, whoever is
// in line between them.
TEST_P(LockAll, JoinsReadersThatAreGrantedLater) {
  std::array<PostedCall, 4> posted;
  const auto flushed = [&](int index) {
    posted[static_cast<std::size_t>(index)].take(
        rank(index).epochs().flush(0, false, &posted[static_cast<std::size_t>(index)]));
  };
  ASSERT_EQ(rank(0).lock(true, 0, {}), Error::none);
  ASSERT_EQ(rank(1).lock(false, 0, {}), Error::none);
  put(1, 0);
  flushed(1);
  job_.run_until_idle();
  ASSERT_EQ(rank(2).lock(true, 0, {}), Error::none);
  put(2, 0);
  flushed(2);
  job_.run_until_idle();
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  put(3, 0);
  flushed(3);
  job_.run_until_idle();
  EXPECT_FALSE(posted[1].done() || posted[2].done() || posted[3].done());
  EXPECT_TRUE(rank(0).unlock(0, nullptr).done);
  job_.run_until_idle();
  EXPECT_TRUE(posted[1].done() && posted[3].done());
  EXPECT_FALSE(posted[2].done()) << "the exclusive one excludes both";
  PostedCall over;
  over.take(rank(3).unlock_all(&over));
  over = {};
  over.take(rank(1).unlock(0, &over));
  job_.run_until_idle();
  EXPECT_TRUE(posted[2].done());
  EXPECT_EQ(word(0), 7u);
  over = {};
  over.take(rank(2).unlock(0, &over));
  job_.run_until_idle();
  EXPECT_TRUE(rank(1).lock(true, 0, {}) == Error::none);
}

// Who has opened lock_all may load its own memory: an exclusive holder excludes it, and is
// excluded.
TEST_P(LockAll, HoldsItsOwnLock) {
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  put(1, 0);
  PostedCall first;
  first.take(rank(1).epochs().flush(0, false, &first));
  job_.run_until_idle();
  ASSERT_TRUE(first.done());
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  job_.run_until_idle();
  EXPECT_FALSE(rank(0).epochs().try_hold_all());
  first = {};
  first.take(rank(1).unlock(0, &first));
  job_.run_until_idle();
  ASSERT_TRUE(first.done());
  EXPECT_TRUE(rank(0).epochs().try_hold_all());
  EXPECT_EQ(word(0), 7u);

  value_ = 8;
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  put(1, 0);
  PostedCall second;
  second.take(rank(1).unlock(0, &second));
  job_.run_until_idle();
  EXPECT_FALSE(second.done());
  EXPECT_EQ(word(0), 7u);
  PostedCall over;
  over.take(rank(0).unlock_all(&over));
  job_.run_until_idle();
  EXPECT_TRUE(over.done() && second.done());
  EXPECT_EQ(word(0), 8u);
}

// The lock is asked for when the epoch is opened, or activated, though nobody waits for it.
TEST_P(LockAll, AsksForItsOwnLockWhenItIsActivated) {
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  job_.run_until_idle();
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  put(1, 1);
  PostedCall before;
  before.take(rank(1).unlock(1, &before));
  ASSERT_FALSE(before.done());
  ASSERT_EQ(rank(1).lock_all({}), Error::none);
  EXPECT_FALSE(rank(1).epochs().try_hold_all()) << "the epoch before is pending";
  PostedCall own;
  own.take(rank(0).unlock(1, &own));
  job_.run_until_idle();
  EXPECT_TRUE(own.done() && before.done());
  ASSERT_EQ(rank(2).lock(true, 1, {}), Error::none);
  put(2, 1);
  PostedCall after;
  after.take(rank(2).unlock(1, &after));
  job_.run_until_idle();
  EXPECT_FALSE(after.done());
  EXPECT_TRUE(rank(1).epochs().try_hold_all());
  PostedCall over;
  over.take(rank(1).unlock_all(&over));
  job_.run_until_idle();
  EXPECT_TRUE(over.done() && after.done());
}

TEST_P(LockAll, WithoutCheckNobodyWaits) {
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  put(1, 0);
  job_.run_until_idle();
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  EXPECT_TRUE(rank(0).epochs().try_hold_all());
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
}

/// Four ranks on one node that load and store one another's memory.
class LockAllShared : public ::testing::Test {
 protected:
  explicit LockAllShared(bool shared = true) {
    SimWindowSpec spec;
    spec.bytes = sizeof(std::uint64_t);
    spec.shared = shared;
    job_.create_window(spec);
  }
  Window& rank(int index) { return job_.window(index); }

  SimJob job_{{0, 0, 0, 0}};
};

TEST_F(LockAllShared, HoldsTheLocksOfAll) {
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  EXPECT_TRUE(rank(3).epochs().try_hold_all());
  for (int target = 0; target < 4; ++target) {
    ASSERT_EQ(rank(1).lock(true, target, {}), Error::none);
    EXPECT_FALSE(rank(1).epochs().try_hold_lock(target));
  }
  EXPECT_TRUE(rank(3).unlock_all(nullptr).done);
  for (int target = 0; target < 4; ++target) EXPECT_TRUE(rank(1).epochs().try_hold_lock(target));
}

// It waits for the first of two locks that somebody takes, and must not hold the second one then.
TEST_F(LockAllShared, DoesNotWaitForWhoWaitsForIt) {
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  ASSERT_TRUE(rank(1).epochs().try_hold_lock(0));
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  job_.run_until_idle();
  EXPECT_FALSE(rank(3).epochs().try_hold_all());
  ASSERT_EQ(rank(1).lock(true, 2, {}), Error::none);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(2));
  EXPECT_TRUE(rank(1).unlock(0, nullptr).done);
  job_.run_until_idle();
  EXPECT_FALSE(rank(3).epochs().try_hold_all());
  EXPECT_TRUE(rank(1).unlock(2, nullptr).done);
  job_.run_until_idle();
  // By the sweep alone.
  ASSERT_EQ(rank(1).lock(true, 3, {}), Error::none);
  EXPECT_FALSE(rank(1).epochs().try_hold_lock(3));
  EXPECT_TRUE(rank(3).epochs().try_hold_all());
  EXPECT_TRUE(rank(3).unlock_all(nullptr).done);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(3));
}

// Closed before it has all: it gives back what it has, and asks for no more.
TEST_F(LockAllShared, MayBeClosedBeforeItHasThemAll) {
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  ASSERT_TRUE(rank(1).epochs().try_hold_lock(1));
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  PostedCall over;
  over.take(rank(3).unlock_all(&over));
  ASSERT_EQ(rank(2).lock(true, 0, {}), Error::none);
  EXPECT_TRUE(rank(2).epochs().try_hold_lock(0));
  EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
  job_.run_until_idle();
  EXPECT_TRUE(over.done());
  for (const int target : {1, 2, 3}) {
    ASSERT_EQ(rank(2).lock(true, target, {}), Error::none);
    EXPECT_TRUE(rank(2).epochs().try_hold_lock(target));
  }
}

/// Becomes one while the epoch is open.
class LockAllQueried : public LockAllShared {
 protected:
  LockAllQueried() : LockAllShared(false) {}
};

TEST_F(LockAllQueried, AsksForTheOtherLocks) {
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(0));
  EXPECT_TRUE(rank(1).unlock(0, nullptr).done);
  rank(3).epochs().set_shared();
  EXPECT_TRUE(rank(3).epochs().try_hold_all());
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  EXPECT_FALSE(rank(1).epochs().try_hold_lock(0));
  EXPECT_TRUE(rank(3).unlock_all(nullptr).done);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(0));
}

// What MPI_Win_shared_query waits for, in epochs of both kinds.
TEST_F(LockAllQueried, HoldsWhatIsLoadedFromNowOn) {
  EXPECT_TRUE(rank(3).epochs().try_hold_loaded(0)) << "no epoch";
  for (const bool all : {true, false}) {
    ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
    EXPECT_TRUE(rank(1).epochs().try_hold_lock(0));
    ASSERT_EQ(all ? rank(3).lock_all({}) : rank(3).lock(false, 0, {}), Error::none);
    rank(3).epochs().set_shared();
    EXPECT_FALSE(rank(3).epochs().try_hold_loaded(0));
    EXPECT_TRUE(rank(1).unlock(0, nullptr).done);
    job_.run_until_idle();
    EXPECT_TRUE(rank(3).epochs().try_hold_loaded(0));
    EXPECT_TRUE((all ? rank(3).unlock_all(nullptr) : rank(3).unlock(0, nullptr)).done);
  }
}

/// As long as each lock is free when it is needed, the epoch is a hot one.
class HotLockAll : public LockAllQueried {
 protected:
  /// As the MPI layer puts: straight, as soon as there is a way.
  bool put_straight(int origin, int target) {
    Window& window = rank(origin);
    std::byte* where = window.find_address(target, 0, sizeof value_);
    if (where == nullptr && window.try_touch(target)) {
      where = window.find_address(target, 0, sizeof value_);
    }
    if (where == nullptr) return false;
    std::memcpy(where, &value_, sizeof value_);
    return true;
  }
  std::uint64_t word(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner), sizeof value);
    return value;
  }

  std::uint64_t value_ = 7;
};

TEST_F(HotLockAll, HoldsTheLocksOfItsTargetsUntilItIsClosed) {
  EXPECT_FALSE(rank(0).try_touch(1)) << "no epoch";
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  EXPECT_FALSE(rank(0).try_touch(4)) << "there is no such rank";
  EXPECT_EQ(rank(0).find_address(1, 0, sizeof value_), nullptr);
  ASSERT_TRUE(put_straight(0, 1));
  ASSERT_TRUE(put_straight(0, 0));
  EXPECT_FALSE(rank(0).try_touch(1)) << "it has it already";
  EXPECT_TRUE(rank(0).flushed(1, false));
  for (const int target : {2, 0}) ASSERT_EQ(rank(3).lock(true, target, {}), Error::none);
  ASSERT_EQ(rank(2).lock(true, 1, {}), Error::none);
  EXPECT_TRUE(rank(3).epochs().try_hold_lock(2));
  EXPECT_FALSE(rank(3).epochs().try_hold_lock(0));
  EXPECT_FALSE(rank(2).epochs().try_hold_lock(1));
  EXPECT_EQ(job_.process(0).pending(), 0U);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  EXPECT_EQ(rank(0).find_address(1, 0, sizeof value_), nullptr) << "closed";
  EXPECT_TRUE(rank(3).epochs().try_hold_lock(0));
  EXPECT_TRUE(rank(2).epochs().try_hold_lock(1));
  EXPECT_TRUE(word(0) == 7 && word(1) == 7);
  // The next one begins anew.
  for (const int target : {0, 2}) EXPECT_TRUE(rank(3).unlock(target, nullptr).done);
  EXPECT_TRUE(rank(2).unlock(1, nullptr).done);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  ASSERT_TRUE(put_straight(0, 1));
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
}

// Another lock is not to be had at once: the epoch keeps those that it has.
TEST_F(HotLockAll, KeepsItsLocksWhenItWaitsForAnother) {
  for (const int touched : {0, 1, 2}) {
    ASSERT_EQ(rank(1).lock(true, 3, {}), Error::none);
    ASSERT_TRUE(rank(1).epochs().try_hold_lock(3));
    ASSERT_EQ(rank(0).lock_all({}), Error::none);
    for (int target = 1; target <= touched; ++target) ASSERT_TRUE(put_straight(0, target));
    ASSERT_FALSE(put_straight(0, 3));
    value_ = 8 + static_cast<std::uint64_t>(touched);
    issue(rank(0), on_word(OperationKind::put, &value_, 3));
    for (int target = 0; target <= touched; ++target) {
      ASSERT_EQ(rank(2).lock(true, target, {}), Error::none);
      EXPECT_FALSE(rank(2).epochs().try_hold_lock(target)) << target << " of " << touched;
      EXPECT_TRUE(put_straight(0, target)) << "the way is open as before";
    }
    PostedCall flushed;
    flushed.take(rank(0).epochs().flush(3, false, &flushed));
    job_.run_until_idle();
    EXPECT_FALSE(flushed.done());
    EXPECT_TRUE(rank(1).unlock(3, nullptr).done);
    job_.run_until_idle();
    EXPECT_TRUE(flushed.done());
    EXPECT_EQ(word(3), value_);
    EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
    for (int target = 0; target <= touched; ++target) {
      EXPECT_TRUE(rank(2).epochs().try_hold_lock(target));
      EXPECT_TRUE(rank(2).unlock(target, nullptr).done);
    }
  }
}

TEST_F(HotLockAll, AsksForTheOthersWhenTheyAreLoaded) {
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  ASSERT_TRUE(put_straight(0, 1));
  rank(0).epochs().set_shared();
  EXPECT_TRUE(rank(0).epochs().try_hold_all());
  for (int target = 0; target < 4; ++target) {
    ASSERT_EQ(rank(2).lock(true, target, {}), Error::none);
    EXPECT_FALSE(rank(2).epochs().try_hold_lock(target));
  }
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  for (int target = 0; target < 4; ++target) {
    EXPECT_TRUE(rank(2).epochs().try_hold_lock(target));
    EXPECT_TRUE(rank(2).unlock(target, nullptr).done);
  }
}

// A store that was left to its target with a notification is there when the epoch is over.
TEST_F(HotLockAll, TakesBackWhatItHasLeft) {
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  ASSERT_TRUE(rank(0).try_touch(1));
  ASSERT_TRUE(rank(0).put_notified(1, 0, &value_, sizeof value_, {NotifyKind::tag, 1, 0}));
  ASSERT_EQ(rank(0).peer(1).postponed.load(), Postponed::inlined_stores);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  EXPECT_EQ(word(1), 7U);
}

// An epoch without locks is no hot one, nor one with a weak unlock, nor one in which a
// notification may have to wait.
TEST_F(HotLockAll, IsHotOnlyWhereLocksAreAllThereIs) {
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  EXPECT_FALSE(rank(0).try_touch(1));
  ASSERT_EQ(rank(1).lock(true, 0, {}), Error::none);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(0)) << "nobody holds the lock";
  EXPECT_TRUE(rank(1).unlock(0, nullptr).done);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);

  ASSERT_EQ(rank(0).lock_all(weak_unlock()), Error::none);
  EXPECT_FALSE(rank(0).try_touch(1));
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);

  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  ASSERT_TRUE(rank(0).try_touch(1));
  Operation notified = on_word(OperationKind::put, &value_, 1);
  notified.notify_arg = {NotifyKind::tag, 1, sizeof value_};
  issue(rank(0), notified);
  EXPECT_FALSE(rank(0).try_touch(2));
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  EXPECT_EQ(word(1), 7U);
}

}  // namespace
}  // namespace oriel::test
