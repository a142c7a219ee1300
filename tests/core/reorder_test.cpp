// SPDX-License-Identifier: BSD-3-Clause
// Epochs that the reorder keys let overlap (E7, E15): one whose target is free goes ahead, whatever
// stands before it, and epochs to one target keep their order.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
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
  void epoch(const EventSource&, EpochStep step, const Epoch& epoch) override {
    if (step == EpochStep::activated && epoch.kind == EpochKind::exposure) ++active;
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
  void lock_and_put(int target, std::uint64_t value, Told& told, Assert assertion = {}) {
    ASSERT_EQ(rank(0).lock(true, target, assertion), Error::none);
    put(0, target, value);
    told.take(rank(0).unlock(target, &told));
  }
  /// An access epoch of rank 0; rank 2 exposes its window at once, rank 1 later.
  void start_and_put(int target, Told& told) {
    const std::array<int, 1> group = {target};
    ASSERT_EQ(rank(0).epochs().start(group, {}), Error::none);
    put(0, target, 7);
    told.take(rank(0).epochs().complete(&told));
  }
  void expose(int target, Told& told) {
    const std::array<int, 1> group = {0};
    ASSERT_EQ(rank(target).epochs().post(group, {}), Error::none);
    told.take(rank(target).epochs().wait(&told));
  }

  Exposures exposures_;
  SimJob job_;
  std::deque<std::uint64_t> values_;
  Told released_;
};

TEST_P(Reordered, SeveralLocksOfATargetHoldUpNobodyElse) {
  hold(1);
  std::array<Told, 3> to_taken;
  for (std::size_t i = 0; i < to_taken.size(); ++i) lock_and_put(1, i + 1, to_taken[i]);
  Told to_free;
  lock_and_put(2, 9, to_free);
  Told access;
  start_and_put(2, access);
  Told exposure;
  expose(2, exposure);
  job_.run_until_idle();
  EXPECT_TRUE(to_free.done());
  EXPECT_TRUE(access.done());
  EXPECT_TRUE(exposure.done());
  for (const Told& told : to_taken) EXPECT_FALSE(told.done());

  release(1);
  job_.run_until_idle();
  for (const Told& told : to_taken) EXPECT_TRUE(told.done());
  EXPECT_EQ(memory(1), to_taken.size());  // the last one's
}

// Also those that take no lock, and with epochs to other targets between them.
TEST_P(Reordered, EpochsToOneTargetKeepTheirOrder) {
  hold(1);
  std::deque<Told> told;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    lock_and_put(1, i, told.emplace_back(), i % 3 == 0 ? no_check() : Assert{});
    lock_and_put(2, i, told.emplace_back());
  }
  job_.run_until_idle();
  release(1);
  std::uint64_t last = 0;
  do {
    EXPECT_GE(memory(1), last);
    last = memory(1);
  } while (job_.round());
  for (const Told& one : told) EXPECT_TRUE(one.done());
  EXPECT_EQ(memory(1), 20u);
  EXPECT_EQ(memory(2), 20u);
  EXPECT_TRUE(rank(0).epochs().quiet());
}

// More than a sweep looks at.
TEST_P(Reordered, AnyNumberOfEpochsIsActive) {
  constexpr std::size_t late = 1000;
  std::deque<Told> told(late);
  for (Told& one : told) {
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
  Told second;
  start_and_put(2, second);
  Told exposure;
  expose(2, exposure);
  job_.run_until_idle();
  EXPECT_TRUE(exposure.done());
  EXPECT_TRUE(second.done());
  EXPECT_EQ(memory(2), 7u);
  for (const Told& one : told) EXPECT_FALSE(one.done());

  for (std::size_t i = 0; i < late; ++i) {
    Told exposed;
    expose(1, exposed);
    job_.run_until_idle();
    EXPECT_TRUE(exposed.done()) << i;
    EXPECT_TRUE(told[i].done()) << i;
  }
  EXPECT_TRUE(rank(0).epochs().quiet());
}

// Its place in a lock queue is one for all epochs of a rank, of either kind.
TEST_P(Reordered, LockAllAndLockTakeTurnsAtOneTargetOnly) {
  hold(1);
  Told all;
  ASSERT_EQ(rank(0).epochs().lock_all({}), Error::none);
  put(0, 1, 1);
  all.take(rank(0).epochs().unlock_all(&all));
  Told behind;
  lock_and_put(1, 2, behind);
  Told beside;
  lock_and_put(2, 3, beside);
  Told another;
  ASSERT_EQ(rank(0).epochs().lock_all({}), Error::none);
  put(0, 2, 4);
  another.take(rank(0).epochs().unlock_all(&another));
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
      std::array<Told, 4> fenced;
      const auto fence = [&](int index) {
        Told& told = fenced[static_cast<std::size_t>(index)];
        EXPECT_TRUE(rank(index).epochs().fence(no_precede(), false, nullptr).ok());
        told.take(rank(index).epochs().fence(no_succeed(), false, &told));
      };
      fence(0);
      fence(2);
      fence(3);
      ASSERT_EQ(rank(0).epochs().post(group, {}), Error::none);
      Told waited;
      waited.take(rank(0).epochs().wait(&waited));
      const std::array<int, 1> to = {0};
      ASSERT_EQ(rank(2).epochs().start(to, {}), Error::none);
      put(2, 0, 8);
      Told completed;
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

/// The targets in the order in which rank 0 has told them that its epoch is over.
class Order final : public EventSink {
 public:
  void told(const EventSource&, const Epoch&, const Target& target) override {
    ranks.push_back(target.rank);
  }
  std::vector<int> ranks;
};

// What is sent to another node travels while the copies on the node are made.
TEST(OrderInAnEpoch, TargetsOnOtherNodesComeFirst) {
  Order order;
  SimJob job({0, 0, 0, 1, 1});
  job.create_window({.bytes = 64});
  job.process(0).events().add(order);
  Window& me = job.window(0);
  const std::array<int, 1> late = {1};
  ASSERT_EQ(me.epochs().start(late, {}), Error::none);
  const std::uint64_t value = 7;
  issue(me, on_word(OperationKind::put, &value, 1));
  Told first;
  first.take(me.epochs().complete(&first));
  const std::array<int, 4> group = {2, 3, 1, 4};
  ASSERT_EQ(me.epochs().start(group, {}), Error::none);
  for (const int target : group) issue(me, on_word(OperationKind::put, &value, target, 8));
  Told second;
  second.take(me.epochs().complete(&second));
  const std::array<int, 1> origin = {0};
  std::deque<Told> exposed;
  const auto expose = [&](int target) {
    Told& told = exposed.emplace_back();
    EXPECT_EQ(job.window(target).epochs().post(origin, {}), Error::none);
    told.take(job.window(target).epochs().wait(&told));
  };
  for (const int target : {1, 1, 2, 3, 4}) expose(target);
  job.run_until_idle();
  EXPECT_TRUE(second.done());
  for (const Told& told : exposed) EXPECT_TRUE(told.done());
  EXPECT_EQ(order.ranks, (std::vector<int>{1, 3, 4, 2, 1}));
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
      Told earlier;
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
      Told later;
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
      Told waited;
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
