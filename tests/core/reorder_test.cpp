// SPDX-License-Identifier: BSD-3-Clause
// Epochs that the reorder keys let overlap (E7, E15): one whose target is free goes ahead, whatever
// stands before it, and epochs to one target keep their order.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/epoch/events.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Counts the exposures that have been activated.
class Exposures final : public EventSink {
 public:
  void on(const Event& event, const EventSource&) override {
    const bool exposure = event.detail == detail_of(EpochKind::exposure);
    if (event.kind == EventKind::epoch_activated && exposure) ++active;
  }
  int active = 0;
};

/// Rank 0 has the epochs that are looked at. Ranks 1 and 2 are its targets, rank 3 another origin.
class Reordered : public ::testing::TestWithParam<bool> {
 protected:
  Reordered() : job_(GetParam() ? std::vector<int>{0, 0, 0, 0} : std::vector<int>{0, 1, 2, 3}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.reorder.access_after_access = true;
    job_.create_window(spec);
    job_.process(0).events().add(exposures_);
  }

  Window& rank(int index) { return job_.window(index); }
  std::uint64_t memory(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner), sizeof value);
    return value;
  }
  void put(int origin, int target, std::uint64_t value) {
    values_.push_back(value);
    issue(rank(origin), on_word(OperationKind::put, &values_.back(), target));
  }
  /// Rank 3 holds the target's lock from now on.
  void hold(int target) {
    ASSERT_EQ(rank(3).lock(true, target, {}), Error::none);
    job_.run_until_idle();
  }
  void release(int target) { released_.take(rank(3).unlock(target, &released_)); }
  void lock_and_put(int target, std::uint64_t value, PostedCall& posted, Assert assertion = {}) {
    ASSERT_EQ(rank(0).lock(true, target, assertion), Error::none);
    put(0, target, value);
    posted.take(rank(0).unlock(target, &posted));
  }
  /// An access epoch of rank 0; rank 2 exposes its window at once, rank 1 later.
  void start_and_put(int target, PostedCall& posted) {
    const std::array<int, 1> group = {target};
    ASSERT_EQ(rank(0).epochs().start(group, {}), Error::none);
    put(0, target, 7);
    posted.take(rank(0).epochs().complete(&posted));
  }
  void expose(int target, PostedCall& posted) {
    const std::array<int, 1> group = {0};
    ASSERT_EQ(rank(target).epochs().post(group, {}), Error::none);
    posted.take(rank(target).epochs().wait(&posted));
  }

  /// Opens a lock epoch, and returns whether it is hot.
  bool hot_lock(int target) {
    EXPECT_EQ(rank(0).lock(true, target, {}), Error::none);
    return rank(0).epochs().has_hot_lock(target);
  }

  Exposures exposures_;
  SimJob job_;
  std::deque<std::uint64_t> values_;
  PostedCall released_;
};

TEST_P(Reordered, SeveralLocksOfATargetHoldUpNobodyElse) {
  hold(1);
  std::array<PostedCall, 3> to_taken;
  for (std::size_t i = 0; i < to_taken.size(); ++i) lock_and_put(1, i + 1, to_taken[i]);
  PostedCall to_free;
  lock_and_put(2, 9, to_free);
  PostedCall access;
  start_and_put(2, access);
  PostedCall exposure;
  expose(2, exposure);
  job_.run_until_idle();
  EXPECT_TRUE(to_free.done());
  EXPECT_TRUE(access.done());
  EXPECT_TRUE(exposure.done());
  for (const PostedCall& posted : to_taken) EXPECT_FALSE(posted.done());

  release(1);
  job_.run_until_idle();
  for (const PostedCall& posted : to_taken) EXPECT_TRUE(posted.done());
  EXPECT_EQ(memory(1), to_taken.size());  // the last one's
}

// As if nothing were pending: the unlock finds it over.
TEST_P(Reordered, ALockOfAFreeTargetIsHotBesidePendingEpochs) {
  hold(1);
  PostedCall waiting;
  lock_and_put(1, 1, waiting);
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(rank(0).lock(true, 2, {}), Error::none);
    EXPECT_EQ(rank(0).epochs().has_hot_lock(2), GetParam());
    put(0, 2, 9 + i);
    PostedCall posted;
    posted.take(rank(0).unlock(2, &posted));
    EXPECT_EQ(posted.done(), GetParam());
    job_.run_until_idle();
    EXPECT_EQ(memory(2), 9 + i);
  }
  EXPECT_FALSE(waiting.done());
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  EXPECT_FALSE(rank(0).epochs().has_hot_lock(1));
  PostedCall behind;
  behind.take(rank(0).unlock(1, &behind));
  release(1);
  job_.run_until_idle();
  EXPECT_TRUE(waiting.done());
  EXPECT_TRUE(behind.done());
}

TEST_P(Reordered, ALockIsNotHotBesideAnEpochThatItMayNotOvertake) {
  rank(0).epochs().set_reorder({});
  hold(1);
  PostedCall waiting;
  lock_and_put(1, 1, waiting);
  EXPECT_FALSE(hot_lock(2));
  release(1);
}

// The entry of rank 0 in its queue belongs to an earlier epoch, which does not request it yet
// (E18).
TEST_P(Reordered, ALockIsNotHotBeforeTheLockOfAnEarlierEpochIsRequested) {
  hold(1);
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  ASSERT_EQ(rank(0).lock(true, 2, {}), Error::none);
  put(0, 2, 1);
  PostedCall earlier;
  earlier.take(rank(0).unlock(2, &earlier));
  PostedCall waiting;
  waiting.take(rank(0).unlock(1, &waiting));
  EXPECT_FALSE(hot_lock(2));
  put(0, 2, 2);
  PostedCall later;
  later.take(rank(0).unlock(2, &later));
  release(1);
  job_.run_until_idle();
  EXPECT_TRUE(later.done());
  EXPECT_EQ(memory(2), 2U);
}

// Such an epoch to the same target may not have been activated since the keys were changed.
TEST_P(Reordered, ALockIsNotHotBesideADeferredOneOfItsTarget) {
  rank(0).epochs().set_reorder({});
  hold(1);
  PostedCall waiting;
  lock_and_put(1, 1, waiting);
  PostedCall deferred;
  lock_and_put(2, 1, deferred);
  rank(0).epochs().set_reorder({.access_after_access = true});
  PostedCall later;
  lock_and_put(2, 2, later);
  release(1);
  job_.run_until_idle();
  EXPECT_TRUE(deferred.done());
  EXPECT_TRUE(later.done());
  EXPECT_EQ(memory(2), 2U);
}

// The lock_all epoch may need the lock of the target.
TEST_P(Reordered, ALockIsNotHotBesideALockAllEpoch) {
  hold(1);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  put(0, 1, 1);
  PostedCall waiting;
  waiting.take(rank(0).unlock_all(&waiting));
  EXPECT_FALSE(hot_lock(2));
  release(1);
}

TEST_P(Reordered, ALockIsHotBesideAnExposureOnlyWithTheKey) {
  PostedCall exposure;
  const std::array<int, 1> group = {1};
  ASSERT_EQ(rank(0).epochs().post(group, {}), Error::none);
  exposure.take(rank(0).epochs().wait(&exposure));
  rank(0).epochs().set_reorder({.access_after_access = true, .access_after_exposure = true});
  EXPECT_EQ(hot_lock(3), GetParam());
  PostedCall posted;
  posted.take(rank(0).unlock(3, &posted));
  rank(0).epochs().set_reorder({.access_after_access = true});
  EXPECT_FALSE(hot_lock(2));
}

// Its lock is to be requested before those of later epochs (E18).
TEST_P(Reordered, ALockIsNotHotBesideAnOpenEpochWhoseLockIsDue) {
  hold(1);
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  EXPECT_FALSE(hot_lock(2));
  release(1);
}

// Also those that take no lock, and with epochs to other targets between them.
TEST_P(Reordered, EpochsToOneTargetKeepTheirOrder) {
  hold(1);
  std::deque<PostedCall> posted;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    lock_and_put(1, i, posted.emplace_back(), i % 3 == 0 ? no_check() : Assert{});
    lock_and_put(2, i, posted.emplace_back());
  }
  job_.run_until_idle();
  release(1);
  std::uint64_t last = 0;
  do {
    EXPECT_GE(memory(1), last);
    last = memory(1);
  } while (job_.round());
  for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
  EXPECT_EQ(memory(1), 20u);
  EXPECT_EQ(memory(2), 20u);
  EXPECT_TRUE(rank(0).epochs().quiet());
}

// More than a sweep looks at.
TEST_P(Reordered, AnyNumberOfEpochsIsActive) {
  constexpr std::size_t late = 1000;
  std::deque<PostedCall> posted(late);
  for (PostedCall& one : posted) {
    // A get: what a put to a remote target sends ahead would complete the epoch.
    const std::array<int, 1> group = {1};
    ASSERT_EQ(rank(0).epochs().start(group, {}), Error::none);
    Operation get = on_word(OperationKind::get, nullptr, 1);
    values_.push_back(0);
    get.result.address = &values_.back();
    get.result.count = 1;
    get.result.layout = get.origin.layout;
    issue(rank(0), get);
    one.take(rank(0).epochs().complete(&one));
  }
  PostedCall second;
  start_and_put(2, second);
  PostedCall exposure;
  expose(2, exposure);
  job_.run_until_idle();
  EXPECT_TRUE(exposure.done());
  EXPECT_TRUE(second.done());
  EXPECT_EQ(memory(2), 7u);
  for (const PostedCall& one : posted) EXPECT_FALSE(one.done());

  for (std::size_t i = 0; i < late; ++i) {
    PostedCall exposed;
    expose(1, exposed);
    job_.run_until_idle();
    EXPECT_TRUE(exposed.done()) << i;
    EXPECT_TRUE(posted[i].done()) << i;
  }
  EXPECT_TRUE(rank(0).epochs().quiet());
}

// Its place in a lock queue is one for all epochs of a rank, of either kind.
TEST_P(Reordered, LockAllAndLockTakeTurnsAtOneTargetOnly) {
  hold(1);
  PostedCall all;
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  put(0, 1, 1);
  all.take(rank(0).unlock_all(&all));
  PostedCall behind;
  lock_and_put(1, 2, behind);
  PostedCall beside;
  lock_and_put(2, 3, beside);
  PostedCall another;
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  put(0, 2, 4);
  another.take(rank(0).unlock_all(&another));
  job_.run_until_idle();
  EXPECT_FALSE(all.done());
  EXPECT_FALSE(behind.done());
  EXPECT_TRUE(beside.done());
  EXPECT_TRUE(another.done());
  EXPECT_EQ(memory(2), 4u);
  release(1);
  job_.run_until_idle();
  EXPECT_TRUE(all.done());
  EXPECT_TRUE(behind.done());
  EXPECT_EQ(memory(1), 2u);
}

// Its grant travels while others have not entered the fence; the origin's access still waits.
TEST_P(Reordered, AnExposureIsOpenBeforeTheFenceIsOver) {
  for (const bool exposure_after_access : {false, true}) {
    for (const bool exposure_after_exposure : {false, true}) {
      exposures_.active = 0;
      Reorder keys;
      keys.exposure_after_access = exposure_after_access;
      keys.exposure_after_exposure = exposure_after_exposure;
      rank(0).epochs().set_reorder(keys);
      const std::array<int, 1> group = {2};
      std::array<PostedCall, 4> fenced;
      const auto fence = [&](int index) {
        PostedCall& posted = fenced[static_cast<std::size_t>(index)];
        EXPECT_TRUE(rank(index).epochs().fence(no_precede(), false, nullptr).ok());
        posted.take(rank(index).epochs().fence(no_succeed(), false, &posted));
      };
      fence(0);
      fence(2);
      fence(3);
      ASSERT_EQ(rank(0).epochs().post(group, {}), Error::none);
      PostedCall waited;
      waited.take(rank(0).epochs().wait(&waited));
      const std::array<int, 1> to = {0};
      ASSERT_EQ(rank(2).epochs().start(to, {}), Error::none);
      put(2, 0, 8);
      PostedCall completed;
      completed.take(rank(2).epochs().complete(&completed));
      job_.run_until_idle();
      EXPECT_EQ(exposures_.active, exposure_after_access && exposure_after_exposure ? 1 : 0);
      EXPECT_FALSE(fenced[0].done());
      EXPECT_FALSE(completed.done());
      fence(1);
      job_.run_until_idle();
      EXPECT_EQ(exposures_.active, 1);
      EXPECT_TRUE(fenced[0].done());
      EXPECT_TRUE(waited.done());
      EXPECT_TRUE(completed.done());
    }
  }
}

// The unlock may go out when a transfer ends, between two sweeps: the next epoch learns of it.
TEST(ReorderedTransfers, TheirEndFreesThePlaceInTheLockQueue) {
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    for (const SimNetwork::Writes& writes : SimNetwork::all_writes) {
      for (const bool notified : {true, false}) {
        if (!notified && kind == OperationKind::get) continue;
        Limits limits;
        limits.direct = limits.direct_run = 0;
        SimJob job({0, 1}, false, limits);
        job.network().set_writes(writes);
        SimWindowSpec spec;
        spec.bytes = 64;
        spec.direct = true;
        spec.reorder.access_after_access = true;
        job.create_window(spec);
        Window& me = job.window(0);
        std::uint64_t value = 7;
        PostedCall arrived;
        ASSERT_EQ(me.lock(true, 1, {}), Error::none);
        Operation operation = on_word(kind, &value, 1);
        if (kind == OperationKind::get) std::swap(operation.origin, operation.result);
        if (notified) {
          operation.notify_arg = {NotifyKind::tag, 5, 8};
        } else {
          operation.completes_there = true;
          operation.completion = &arrived;
        }
        ASSERT_EQ(me.epochs().issue(operation).error, Error::none);
        PostedCall first;
        first.take(me.unlock(1, &first));
        ASSERT_EQ(me.lock(true, 1, {}), Error::none);
        issue(me, on_word(OperationKind::put, &value, 1, 8));
        PostedCall second;
        second.take(me.unlock(1, &second));
        job.run_until_idle();
        EXPECT_TRUE(first.done());
        EXPECT_TRUE(second.done());
      }
    }
  }
}

TEST(ReorderedTransfers, ANotifiedNetworkAtomicFreesThePlaceInTheLockQueue) {
  for (const auto& nodes : {std::vector<int>{0, 0, 1}, std::vector<int>{0, 1, 1}}) {
    SimJob job(nodes);
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.reorder.access_after_access = true;
    spec.atomics = {bit(Basic::u64), every_op};
    job.create_window(spec);
    Window& me = job.window(0);
    const std::uint64_t value = 3;
    Operation add = on_word(OperationKind::accumulate, &value, 1);
    add.notify_arg = {NotifyKind::tag, 5, 8};
    ASSERT_EQ(me.lock(true, 1, {}), Error::none);
    issue(me, add);
    PostedCall first;
    first.take(me.unlock(1, &first));
    ASSERT_EQ(me.lock(true, 1, {}), Error::none);
    issue(me, on_word(OperationKind::put, &value, 1, 8));
    PostedCall second;
    second.take(me.unlock(1, &second));
    job.run_until_idle();
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(second.done());
  }
}

// Those that wait with their targets have waited for the others already.
TEST_P(Reordered, KeysMayBeTakenBackWhileEpochsWait) {
  for (const auto& targets : {std::array{1, 2}, std::array{2, 1}}) {
    Reorder keys;
    keys.access_after_access = true;
    rank(0).epochs().set_reorder(keys);
    for (const int target : targets) hold(target);
    std::deque<PostedCall> posted;
    for (int i = 0; i < 2; ++i) {
      for (const int target : targets) lock_and_put(target, 7, posted.emplace_back());
    }
    job_.run_until_idle();
    rank(0).epochs().set_reorder({});
    for (const int target : {1, 2}) {
      PostedCall& free = posted.emplace_back();
      free.take(rank(3).unlock(target, &free));
    }
    job_.run_until_idle();
    for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
    EXPECT_TRUE(rank(0).epochs().quiet());
  }
}

// Epochs of either kind have their turn at a target in the order of their opening, also behind more
// epochs than a sweep looks at.
TEST_P(Reordered, LockAllAndLockKeepTheirOrderAtATarget) {
  for (const int between : {0, 1, 254, 255, 256, 300}) {
    hold(1);
    std::deque<PostedCall> posted;
    std::uint64_t value = 0;
    const auto lock_all = [&] {
      PostedCall& one = posted.emplace_back();
      ASSERT_EQ(rank(0).lock_all({}), Error::none);
      put(0, 1, ++value);
      one.take(rank(0).unlock_all(&one));
    };
    lock_and_put(1, ++value, posted.emplace_back());
    lock_and_put(1, ++value, posted.emplace_back());
    for (int i = 0; i < between; ++i) start_and_put(2, posted.emplace_back());
    lock_all();
    for (int i = 0; i < 5; ++i) lock_and_put(1, ++value, posted.emplace_back());
    lock_all();
    lock_all();
    lock_and_put(1, ++value, posted.emplace_back());
    job_.run_until_idle();
    PostedCall& free = posted.emplace_back();
    free.take(rank(3).unlock(1, &free));
    std::uint64_t last = 0;
    do {
      EXPECT_GE(memory(1), last) << between;
      last = memory(1);
    } while (job_.round());
    EXPECT_EQ(memory(1), value) << between;
    std::deque<PostedCall> exposed(static_cast<std::size_t>(between));
    for (PostedCall& one : exposed) {
      expose(2, one);
      job_.run_until_idle();
    }
    for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
    const std::uint64_t nothing = 0;
    std::memcpy(job_.memory(1), &nothing, sizeof nothing);
  }
}

// The epoch that the next sweep would begin with may be over before it.
TEST_P(Reordered, ACallMayEndTheEpochThatASweepHasComeTo) {
  std::deque<PostedCall> posted;
  for (int i = 0; i < 256; ++i) start_and_put(1, posted.emplace_back());
  ASSERT_EQ(rank(0).lock(true, 2, {}), Error::none);
  put(0, 2, 5);
  job_.process(0).sweep();
  PostedCall done;
  done.take(rank(0).unlock(2, &done));
  // Deferred, perhaps in the object that has just been released.
  const std::array<int, 1> group = {2};
  ASSERT_EQ(rank(0).epochs().post(group, {}), Error::none);
  PostedCall exposed;
  exposed.take(rank(0).epochs().wait(&exposed));
  job_.run_until_idle();
  EXPECT_TRUE(done.done());
  EXPECT_FALSE(exposed.done()) << "nobody has had access";
}

// To the program a weak epoch is over: no key lets a later start overtake what it has left there.
TEST(Reordering, AStartDoesNotOvertakeWhatAWeakUnlockHasLeft) {
  SimJob job({0, 1, 2, 3});
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.reorder.access_after_access = true;
  job.create_window(spec);
  Window& me = job.window(0);
  ASSERT_EQ(job.window(3).lock(true, 1, {}), Error::none);
  job.run_until_idle();
  const std::array<std::uint64_t, 3> values = {1, 2, 3};
  ASSERT_EQ(me.lock(true, 1, weak_unlock()), Error::none);
  issue(me, on_word(OperationKind::put, &values[0], 1));
  PostedCall weak;
  weak.take(me.unlock(1, &weak));
  job.run_until_idle();
  EXPECT_TRUE(weak.done());
  const std::array<int, 1> origin = {0};
  std::array<PostedCall, 3> completed;
  std::array<PostedCall, 3> exposed;
  for (const int target : {2, 1}) {
    const std::array<int, 1> group = {target};
    const auto at = static_cast<std::size_t>(target);
    ASSERT_EQ(me.epochs().start(group, {}), Error::none);
    issue(me, on_word(OperationKind::put, &values[at], target));
    completed[at].take(me.epochs().complete(&completed[at]));
    ASSERT_EQ(job.window(target).epochs().post(origin, {}), Error::none);
    exposed[at].take(job.window(target).epochs().wait(&exposed[at]));
  }
  job.run_until_idle();
  EXPECT_TRUE(exposed[2].done()) << "nothing has been left there";
  EXPECT_FALSE(exposed[1].done());
  PostedCall released;
  released.take(job.window(3).unlock(1, &released));
  job.run_until_idle();
  EXPECT_TRUE(exposed[1].done());
  std::uint64_t there = 0;
  std::memcpy(&there, job.memory(1), sizeof there);
  EXPECT_EQ(there, values[1]);
}

/// The targets in the order in which rank 0 has told them that its epoch is over.
class Order final : public EventSink {
 public:
  void on(const Event& event, const EventSource&) override {
    if (event.kind == EventKind::told) ranks.push_back(event.rank);
  }
  std::vector<int> ranks;
};

// Messages to another node travel while the copies on the node are made.
void expect_remote_first(bool remote_first) {
  Order order;
  SimJob job({0, 0, 0, 1, 1});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  job.process(0).events().add(order);
  Window& me = job.window(0);
  const std::array<int, 1> late = {1};
  ASSERT_EQ(me.epochs().start(late, {}), Error::none);
  const std::uint64_t value = 7;
  issue(me, on_word(OperationKind::put, &value, 1));
  PostedCall first;
  first.take(me.epochs().complete(&first));
  const std::array<int, 4> group = remote_first ? std::array{3, 2, 1, 4} : std::array{2, 3, 1, 4};
  ASSERT_EQ(me.epochs().start(group, {}), Error::none);
  for (const int target : group) issue(me, on_word(OperationKind::put, &value, target, 8));
  PostedCall second;
  second.take(me.epochs().complete(&second));
  const std::array<int, 1> origin = {0};
  std::deque<PostedCall> exposed;
  const auto expose = [&](int target) {
    PostedCall& posted = exposed.emplace_back();
    EXPECT_EQ(job.window(target).epochs().post(origin, {}), Error::none);
    posted.take(job.window(target).epochs().wait(&posted));
  };
  for (const int target : {1, 1, 2, 3, 4}) expose(target);
  job.run_until_idle();
  EXPECT_TRUE(second.done());
  for (const PostedCall& posted : exposed) EXPECT_TRUE(posted.done());
  EXPECT_EQ(order.ranks, (std::vector<int>{1, 3, 4, 2, 1}));
}

TEST(OrderInAnEpoch, TargetsOnOtherNodesComeFirst) {
  for (const bool remote_first : {false, true}) expect_remote_first(remote_first);
}

/// A put of rank 0 whose lock another rank holds, so that it is recorded, closed and then copied.
class LongCopy : public ::testing::Test {
 protected:
  static constexpr std::uint64_t bytes = 640;

  void make(std::uint64_t pieces) {
    Limits limits;
    limits.direct_fragment = 64;
    job_ = std::make_unique<SimJob>(std::vector<int>{0, 0}, false, limits);
    SimWindowSpec spec;
    spec.bytes = 1024;
    spec.pieces = pieces;
    job_->create_window(spec);
  }
  void put(const void* from, int target, std::int64_t displacement) {
    ASSERT_EQ(job_->window(1).lock(true, target, {}), Error::none);
    Window& me = job_->window(0);
    ASSERT_EQ(me.lock(true, target, {}), Error::none);
    const LayoutRef all(new Layout({{0, bytes}}, bytes, Basic::u64));
    Operation copy =
        on_word(OperationKind::put, static_cast<const std::uint64_t*>(from), target, displacement);
    copy.origin.layout = copy.target_layout = all;
    issue(me, copy);
    PostedCall done;
    done.take(me.unlock(target, &done));
    PostedCall released;
    released.take(job_->window(1).unlock(target, &released));
    job_->run_until_idle();
    EXPECT_TRUE(done.done());
  }

  std::unique_ptr<SimJob> job_;
};

TEST_F(LongCopy, WithinTheOwnWindowMayOverlap) {
  make(0);
  std::byte* const memory = job_->memory(0);
  for (int i = 0; i < 1024; ++i) memory[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> expected(memory, memory + 1024);
  std::memmove(expected.data() + 16, expected.data(), bytes);
  put(memory, 0, 16);
  EXPECT_EQ(std::memcmp(expected.data(), memory, expected.size()), 0);
}

TEST_F(LongCopy, OnADynamicWindow) {
  make(1);
  const std::vector<std::uint64_t> words(bytes / 8, 7);
  put(words.data(), 1, job_->displacement(1, 0, 0));
  EXPECT_EQ(std::memcmp(job_->memory(1), words.data(), bytes), 0);
}

// What is recorded moves as soon as the target is available, whether there is space for
// notifications or not, and these keep their order, also where the epoch is closed by then.
TEST(OrderInAnEpoch, AFullQueueHoldsBackNotificationsAlone) {
  SimJob job({0, 0, 0});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  Window& me = job.window(0);
  const std::uint64_t value = 5;
  const auto notified = [&](int tag, std::int64_t place) {
    Operation operation = on_word(OperationKind::put, &value, 1, place);
    operation.notify_arg = {NotifyKind::tag, tag, 8};
    return operation;
  };
  const auto word = [&](int place) {
    std::uint64_t there = 0;
    std::memcpy(&there, job.memory(1) + place, sizeof there);
    return there;
  };
  ASSERT_EQ(job.window(2).lock(true, 1, {}), Error::none);
  ASSERT_EQ(me.lock(true, 1, {}), Error::none);
  issue(me, notified(1, 0));
  issue(me, notified(2, 8));
  issue(me, on_word(OperationKind::put, &value, 1, 16));
  PostedCall closed;
  closed.take(me.unlock(1, &closed));
  for (std::size_t i = 0; i < SimNetwork::Notifications::most; ++i) {
    issue(job.window(2), notified(100, 24));
  }
  PostedCall released;
  released.take(job.window(2).unlock(1, &released));
  for (int sweep = 0; sweep < 20; ++sweep) job.process(0).sweep();
  for (const int place : {0, 8, 16}) EXPECT_EQ(word(place), 5u);
  issue(me, notified(3, 32));  // of the notified epoch
  EXPECT_EQ(word(32), 5u);
  job.run_until_idle();
  EXPECT_TRUE(closed.done());
  for (const int tag : {1, 2, 3}) {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    job.window(1).notifications().start(next);
    job.run_until_idle();
    ASSERT_TRUE(next.complete());
    EXPECT_EQ(next.last().tag, tag);
  }
}

// A long copy on the node goes on in pieces: an earlier epoch completes between them.
TEST(OrderInAnEpoch, ALongCopyDoesNotHoldUpAnEarlierEpoch) {
  constexpr std::uint64_t piece = 64;
  constexpr std::uint64_t pieces = 10;
  for (const Path path : {Path::load_store, Path::system_call}) {
    for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
      Limits limits;
      limits.direct_fragment = piece;
      SimJob job({0, 0, 1}, false, limits);
      SimWindowSpec spec;
      spec.bytes = piece * pieces;
      spec.memory = {Path::load_store, path, Path::load_store};
      spec.reorder.access_after_access = true;
      job.create_window(spec);
      Window& me = job.window(0);

      // The earlier one waits for the reply of another node.
      std::uint64_t got = 1;
      ASSERT_EQ(me.lock(true, 2, {}), Error::none);
      Operation get = on_word(OperationKind::get, nullptr, 2);
      get.result = get.origin;
      get.result.address = &got;
      get.origin = {};
      issue(me, get);
      PostedCall earlier;
      earlier.take(me.unlock(2, &earlier));

      std::vector<std::uint64_t> words(piece * pieces / 8, 7);
      if (kind == OperationKind::get) {
        std::memcpy(job.memory(1), words.data(), piece * pieces);
        words.assign(words.size(), 0);
      }
      const LayoutRef all(new Layout({{0, piece * pieces}}, piece * pieces, Basic::u64));
      Operation copy = on_word(kind, words.data(), 1);
      copy.origin.layout = copy.target_layout = all;
      if (kind == OperationKind::get) std::swap(copy.origin, copy.result);
      const std::array<int, 1> group = {1};
      ASSERT_EQ(me.epochs().start(group, {}), Error::none);
      issue(me, copy);
      PostedCall later;
      later.take(me.epochs().complete(&later));
      const std::array<int, 1> origin = {0};
      ASSERT_EQ(job.window(1).epochs().post(origin, {}), Error::none);

      bool earlier_first = false;
      for (int sweeps = 0; !later.done(); ++sweeps) {
        ASSERT_LT(sweeps, 1000);
        job.process(0).sweep();
        earlier_first |= earlier.done() && !later.done();
        if (sweeps > 2) job.round();
      }
      EXPECT_TRUE(earlier_first);
      PostedCall waited;
      waited.take(job.window(1).epochs().wait(&waited));
      job.run_until_idle();
      EXPECT_TRUE(waited.done());
      const auto* there = reinterpret_cast<const std::uint64_t*>(job.memory(1));
      for (std::size_t i = 0; i < words.size(); ++i) {
        ASSERT_EQ(words[i], 7u);
        ASSERT_EQ(there[i], 7u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Peers, Reordered, ::testing::Values(true, false),
                         [](const auto& peers) { return peers.param ? "Mapped" : "Remote"; });

}  // namespace
}  // namespace oriel::test
