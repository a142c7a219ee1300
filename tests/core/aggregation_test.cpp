// SPDX-License-Identifier: BSD-3-Clause
// Short puts and gets of private memory in a row go by one system call, in the order of their
// calls, at the latest when something completes them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::int64_t stride = sizeof(std::uint64_t);

/// Rank 0 accesses the private memory of ranks 1 and 2.
class Aggregated : public ::testing::Test {
 protected:
  Aggregated() : job_({0, 0, 0}) {
    SimWindowSpec spec;
    spec.bytes = words * sizeof(std::uint64_t);
    spec.memory = {Path::load_store, Path::system_call, Path::system_call};
    job_.create_window(spec);
    for (int target : {1, 2}) {
      for (std::size_t i = 0; i < words; ++i) set(target, i, 1000 + i);
    }
  }

  Window& window(int rank = 0) { return job_.window(rank); }
  void set(int target, std::size_t place, std::uint64_t value) {
    std::memcpy(job_.memory(target) + place * sizeof value, &value, sizeof value);
  }
  std::uint64_t at(int target, std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(target) + place * sizeof value, sizeof value);
    return value;
  }
  void lock_all() {
    ASSERT_EQ(window().lock_all({}), Error::none);
    for (int target : {1, 2}) ASSERT_TRUE(window().try_touch(target));
  }
  void unlock_all() {
    PostedCall posted;
    posted.take(window().unlock_all(&posted));
    EXPECT_TRUE(posted.done());
  }
  /// By the hot path, from a buffer that is used again at once.
  void put(std::uint64_t value, int target, std::int64_t place) {
    ASSERT_TRUE(window().try_copy(true, target, place * stride, &value, sizeof value, true));
    value = 0xdddd;
  }
  void get(std::uint64_t& result, int target, std::int64_t place) {
    ASSERT_TRUE(window().try_copy(false, target, place * stride, &result, sizeof result, true));
  }
  void flush(int target, bool local = false) {
    if (window().flushed(target, local) || window().nothing_pending(target, local)) return;
    PostedCall posted;
    posted.take(window().epochs().flush(target, local, &posted));
    EXPECT_TRUE(posted.done());
  }
  /// System calls since the last time.
  std::uint64_t calls() {
    const std::uint64_t all = job_.transport(0).copies();
    return all - std::exchange(calls_, all);
  }

  static constexpr std::size_t words = 512;

  SimJob job_;
  std::uint64_t calls_ = 0;
};

TEST_F(Aggregated, PutsGoTogether) {
  lock_all();
  for (std::int64_t i = 0; i < 2; ++i) put(10 + i, 1, i);
  EXPECT_EQ(calls(), 2u);
  EXPECT_EQ(at(1, 1), 11u) << "the first ones go at their calls";
  for (std::int64_t i = 2; i < 102; ++i) put(10 + i, 1, i);
  EXPECT_EQ(calls(), 1u) << "64 of them";
  flush(1, true);
  EXPECT_EQ(calls(), 0u) << "their buffers are free";
  flush(1);
  EXPECT_EQ(calls(), 1u);
  for (std::size_t i = 0; i < 102; ++i) ASSERT_EQ(at(1, i), 10 + i);
  EXPECT_EQ(at(1, 102), 1102u);
  EXPECT_TRUE(window().flushed(1, false));
  unlock_all();
  EXPECT_EQ(calls(), 0u);
}

// One more than go at once: it is alone behind those that have just gone.
TEST_F(Aggregated, TheFirstOfTheNextRow) {
  constexpr std::int64_t all = 2 + 64 + 1;
  lock_all();
  for (const bool flushes : {true, false}) {
    for (std::int64_t i = 0; i < all; ++i) put(flushes ? 10 : 20, 1, i);
    EXPECT_FALSE(window().flushed(1, false));
    if (flushes) flush(1);
    if (!flushes) unlock_all();
    EXPECT_EQ(at(1, all - 1), flushes ? 10u : 20u);
  }
  lock_all();
  std::vector<std::uint64_t> result(all, 7);
  for (std::size_t i = 0; i < all; ++i) get(result[i], 1, static_cast<std::int64_t>(i));
  EXPECT_FALSE(window().flushed(1, true));
  flush(1, true);
  EXPECT_EQ(result.back(), 20u);
  // An operation behind it.
  for (std::int64_t i = 0; i < all; ++i) put(30, 1, 7);
  const std::uint64_t one = 1;
  issue(window(), on_word(OperationKind::accumulate, &one, 1, 7 * stride));
  EXPECT_EQ(at(1, 7), 31u);
  unlock_all();
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  issue(window(), on_word(OperationKind::put, &one, 1, 0));
  for (std::int64_t i = 0; i < all; ++i) put(40, 1, i);
  EXPECT_TRUE(window().unlock(1, nullptr).done);
  EXPECT_EQ(at(1, all - 1), 40u);
}

// A flush of all targets, which has its own short way.
TEST_F(Aggregated, AFlushOfAllTargets) {
  lock_all();
  const auto flush_all = [&](bool local) {
    if (window().pending().all_flushed()) return;
    PostedCall posted;
    posted.take(window().epochs().flush_all(local, &posted));
    EXPECT_TRUE(posted.done());
  };
  flush_all(false);
  for (std::uint64_t turn = 1; turn < 5; ++turn) {
    for (std::int64_t i = 0; i < 20; ++i) put(turn, 2, i);
    flush_all(false);
    EXPECT_EQ(at(2, 19), turn);
    std::uint64_t got[20] = {};
    for (std::int64_t i = 0; i < 20; ++i) get(got[i], 2, i);
    flush_all(true);
    EXPECT_EQ(got[19], turn);
  }
  unlock_all();
}

// Calls that close an epoch complete gets at their origin.
TEST_F(Aggregated, GetsEndWithTheirEpoch) {
  for (const bool all : {true, false}) {
    std::uint64_t got[20] = {};
    if (all) {
      lock_all();
    } else {
      ASSERT_EQ(window().lock(true, 1, {}), Error::none);
      issue(window(), [&] {
        Operation first = on_word(OperationKind::get, nullptr, 1);
        first.result = first.origin;
        first.result.address = got;
        return first;
      }());
    }
    for (std::int64_t i = 0; i < 20; ++i) get(got[i], 1, i);
    EXPECT_EQ(got[19], 0u);
    if (all) {
      unlock_all();
    } else {
      EXPECT_TRUE(window().unlock(1, nullptr).done);
    }
    EXPECT_EQ(got[19], 1019u);
  }
}

// A notified put comes behind the puts before it.
TEST_F(Aggregated, NotifiedPutsKeepTheOrder) {
  lock_all();
  for (int i = 0; i < 5; ++i) put(20, 1, 7);
  const std::uint64_t value = 21;
  const NotifyArg notify_arg{NotifyKind::tag, 1, sizeof value};
  EXPECT_FALSE(window().put_notified(1, 7 * stride, &value, sizeof value, notify_arg));
  Operation operation = on_word(OperationKind::put, &value, 1, 7 * stride);
  operation.notify_arg = notify_arg;
  issue(window(), operation);
  job_.run_until_idle();
  EXPECT_EQ(at(1, 7), 21u);
  unlock_all();
}

// Rows of puts end where their epochs do, also those of two that go at their calls.
TEST_F(Aggregated, AnEpochEndsARow) {
  std::uint64_t value = 1;
  for (int turn = 0; turn < 5; ++turn) {
    ASSERT_EQ(window().lock(true, 1, {}), Error::none);
    issue(window(), on_word(OperationKind::put, &value, 1, 0));
    for (std::int64_t i = 1; i < 3; ++i) {
      put(++value, 1, i);
      EXPECT_EQ(at(1, static_cast<std::size_t>(i)), value);
    }
    EXPECT_TRUE(window().unlock(1, nullptr).done);
  }
}

TEST_F(Aggregated, GetsGoTogether) {
  lock_all();
  std::vector<std::uint64_t> result(102, 7);
  for (std::size_t i = 0; i < 102; ++i) get(result[i], 1, static_cast<std::int64_t>(i));
  EXPECT_EQ(calls(), 3u);
  EXPECT_EQ(result[1], 1001u);
  EXPECT_EQ(result[101], 7u);
  flush(1, true);
  EXPECT_EQ(calls(), 1u);
  for (std::size_t i = 0; i < 102; ++i) ASSERT_EQ(result[i], 1000 + i);
  unlock_all();
}

// A flush ends a row: who puts one at a time has each put at its call.
TEST_F(Aggregated, AFlushEndsARow) {
  lock_all();
  for (std::int64_t i = 0; i < 20; ++i) {
    put(10 + i, 1, i);
    EXPECT_EQ(calls(), 1u);
    EXPECT_TRUE(window().flushed(1, false));
  }
  unlock_all();
}

// Operations of a program to one target take place in the order of their calls.
TEST_F(Aggregated, KeepsTheOrder) {
  lock_all();
  std::uint64_t one = 1;
  std::uint64_t got = 0;
  for (int i = 0; i < 3; ++i) put(20, 1, 7);
  put(21, 1, 7);
  put(22, 1, 7);
  get(got, 1, 7);
  flush(1, true);
  EXPECT_EQ(got, 22u) << "the last of the puts at one place, and the get behind it";

  for (int i = 0; i < 3; ++i) put(30, 1, 7);
  const Reduction sum{Op::sum, Basic::u64, 8};
  EXPECT_FALSE(window().try_reduce(nullptr, 1, 7 * stride, sum, &one, nullptr, 1));
  issue(window(), on_word(OperationKind::accumulate, &one, 1, 7 * stride));
  EXPECT_EQ(at(1, 7), 31u);

  for (int i = 0; i < 3; ++i) put(40, 1, 7);
  std::vector<std::uint64_t> longer(Aggregation::most_bytes / sizeof one + 1, 50);
  EXPECT_FALSE(window().try_copy(true, 1, 0, longer.data(), longer.size() * sizeof one, true));
  Operation operation = on_word(OperationKind::put, longer.data(), 1);
  operation.target_count = operation.origin.count = longer.size();
  issue(window(), operation);
  EXPECT_EQ(at(1, 7), 50u);

  for (int i = 0; i < 4; ++i) get(got, 1, 7);
  put(60, 1, 7);
  EXPECT_EQ(got, 50u) << "the gets before it";
  flush(1);
  EXPECT_EQ(at(1, 7), 60u);
  unlock_all();
}

TEST_F(Aggregated, OfEachTarget) {
  lock_all();
  for (std::int64_t i = 0; i < 20; ++i) {
    put(10 + i, 1, i);
    put(30 + i, 2, i);
  }
  EXPECT_EQ(calls(), 4u);
  flush(1);
  EXPECT_EQ(calls(), 1u);
  EXPECT_EQ(at(1, 19), 29u);
  EXPECT_EQ(at(2, 19), 1019u);
  PostedCall posted;
  posted.take(window().epochs().flush_all(false, &posted));
  EXPECT_EQ(calls(), 1u);
  EXPECT_EQ(at(2, 19), 49u);
  unlock_all();
}

// Any call that sweeps lets them go: a program may wait for something else behind its puts.
TEST_F(Aggregated, ASweepLetsThemGo) {
  lock_all();
  for (std::int64_t i = 0; i < 20; ++i) put(10 + i, 1, i);
  EXPECT_TRUE(job_.process(0).busy());
  EXPECT_NE(at(1, 19), 29u);
  EXPECT_TRUE(job_.process(0).sweep());
  EXPECT_EQ(at(1, 19), 29u);
  EXPECT_FALSE(job_.process(0).busy());
  EXPECT_TRUE(window().flushed(1, false));
  EXPECT_EQ(calls(), 3u);
  unlock_all();
}

TEST_F(Aggregated, EveryKindOfEpochEndsThem) {
  std::uint64_t value = 100;
  const auto row = [&] {
    ++value;
    // The general path opens the other one.
    issue(window(), on_word(OperationKind::put, &value, 1, 0));
    for (std::int64_t i = 1; i < 10; ++i) put(value, 1, i);
    EXPECT_NE(at(1, 9), value);
  };
  for (const bool exclusive : {true, false}) {
    ASSERT_EQ(window().lock(exclusive, 1, {}), Error::none);
    row();
    EXPECT_TRUE(window().unlock(1, nullptr).done);
    EXPECT_EQ(at(1, 9), value);
  }
  lock_all();
  row();
  unlock_all();
  EXPECT_EQ(at(1, 9), value);

  const std::vector<int> target{1};
  const std::vector<int> origin{0};
  PostedCall waited;
  ASSERT_EQ(window(1).epochs().post(origin, {}), Error::none);
  ASSERT_EQ(window().epochs().start(target, {}), Error::none);
  row();
  EXPECT_TRUE(window().epochs().complete(nullptr).done);
  EXPECT_EQ(at(1, 9), value);
  waited.take(window(1).epochs().wait(&waited));
  EXPECT_TRUE(waited.done());

  for (int turn = 0; turn < 4; ++turn) {  // the later ones are renewed
    std::vector<PostedCall> posted(3);
    for (int rank = 0; rank < 3; ++rank) {
      PostedCall& one = posted[static_cast<std::size_t>(rank)];
      if (rank == 0 && turn != 0) {
        row();
        one.take(window().epochs().fence({}, true, &one));
        EXPECT_EQ(at(1, 9), value);
        continue;
      }
      one.take(window(rank).epochs().fence({}, true, &one));
    }
    job_.run_until_idle();
    for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
  }
}

// An owner that is there carries out rows, too: so many as its cell has space for at a time.
TEST_F(Aggregated, ByErrands) {
  job_.network().set_serving(10);
  lock_all();
  for (std::int64_t i = 0; i < 66; ++i) put(10 + static_cast<std::uint64_t>(i), 1, 3 * i);
  flush(1);
  EXPECT_EQ(calls(), 0u);
  // Two alone, and rows of 55 puts, of 8 bytes and their addresses.
  EXPECT_EQ(job_.transport(0).errands(), 2u + 2u);
  std::vector<std::uint64_t> result(66, 7);
  for (std::size_t i = 0; i < 66; ++i) get(result[i], 1, static_cast<std::int64_t>(3 * i));
  flush(1, true);
  EXPECT_EQ(calls(), 0u);
  // Their answer needs the space: one row.
  EXPECT_EQ(job_.transport(0).errands(), 4u + 3u);
  for (std::size_t i = 0; i < 66; ++i) {
    ASSERT_EQ(at(1, 3 * i), 10 + i);
    ASSERT_EQ(at(1, 3 * i + 1), 1001 + 3 * i);
    ASSERT_EQ(result[i], 10 + i);
  }
  std::vector<std::uint64_t> longer(64 * 8);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(window().try_copy(false, 1, static_cast<std::int64_t>(i) * stride, &longer[8 * i],
                                  8 * sizeof longer[0], true));
  }
  flush(1);
  for (std::size_t i = 0; i < longer.size(); ++i) ASSERT_EQ(longer[i], at(1, i / 8 + i % 8));
  // An owner that is there now and then.
  job_.network().set_serving(5);
  for (std::uint64_t turn = 1; turn < 50; ++turn) {
    for (std::int64_t i = 0; i < 66; ++i) put(turn + static_cast<std::uint64_t>(i), 1, i);
    for (std::size_t i = 0; i < 66; ++i) get(result[i], 1, static_cast<std::int64_t>(i));
    flush(1, true);
    for (std::size_t i = 0; i < 66; ++i) ASSERT_EQ(result[i], turn + i);
  }
  unlock_all();
}

// A failure behind an operation's call is told by the call that completes it, once.
TEST_F(Aggregated, FailuresAreTold) {
  for (const bool swept : {false, true}) {
    lock_all();
    for (std::int64_t i = 0; i < 5; ++i) put(10 + i, 1, i);
    job_.transport(0).set_refusing(true);
    if (swept) job_.process(0).sweep();
    EXPECT_FALSE(window().flushed(1, false));
    const Outcome failed = window().epochs().flush(1, false, nullptr);
    EXPECT_EQ(failed.error, Error::system);
    EXPECT_NE(std::string(window().reason()), "");
    job_.transport(0).set_refusing(false);
    EXPECT_EQ(at(1, 4), swept ? 14u : 1004u) << "of the round before";
    for (std::int64_t i = 0; i < 5; ++i) put(10 + i, 1, i);
    flush(1);
    EXPECT_EQ(at(1, 4), 14u);
    for (std::int64_t i = 0; i < 5; ++i) put(20 + i, 1, i);
    job_.transport(0).set_refusing(true);
    EXPECT_EQ(window().unlock_all(nullptr).error, Error::system);
    job_.transport(0).set_refusing(false);
  }
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  const std::uint64_t value = 1;
  issue(window(), on_word(OperationKind::put, &value, 1, 0));
  for (std::int64_t i = 0; i < 5; ++i) put(30 + i, 1, i);
  job_.transport(0).set_refusing(true);
  EXPECT_EQ(window().unlock(1, nullptr).error, Error::system);
  job_.transport(0).set_refusing(false);
  lock_all();
  unlock_all();
}

// A failure is not told by another operation, which takes place.
TEST_F(Aggregated, FailuresAreNotOthers) {
  lock_all();
  for (std::int64_t i = 0; i < 5; ++i) put(10 + i, 1, i);
  job_.transport(0).set_refusing(true);
  job_.process(0).sweep();
  job_.transport(0).set_refusing(false);
  const std::uint64_t one = 1;
  issue(window(), on_word(OperationKind::accumulate, &one, 1, 9 * stride));
  EXPECT_EQ(at(1, 9), 1010u);
  EXPECT_EQ(window().epochs().flush(1, false, nullptr).error, Error::system);
  flush(1);
  unlock_all();
}

// B4: who has ended is named.
TEST_F(Aggregated, AnEndedTargetIsNamed) {
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  const std::uint64_t value = 1;
  issue(window(), on_word(OperationKind::put, &value, 1, 0));
  for (std::int64_t i = 0; i < 5; ++i) put(10, 1, i);
  job_.transport(0).set_ended(1);
  EXPECT_EQ(window().unlock(1, nullptr).error, Error::peer_lost);
  EXPECT_NE(std::string(window().reason()).find("rank 1"), std::string::npos) << window().reason();
}

// The bytes of long rows are kept, too: no more than there is space for.
TEST_F(Aggregated, SpaceForTheirBytes) {
  lock_all();
  std::vector<std::uint64_t> some(Aggregation::most_bytes / sizeof(std::uint64_t));
  for (int i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < some.size(); ++k) some[k] = 200 * static_cast<std::uint64_t>(i) + k;
    ASSERT_TRUE(window().try_copy(true, 1, (i % 4) * 128 * stride, some.data(),
                                  some.size() * sizeof(std::uint64_t), true));
  }
  EXPECT_EQ(calls(), 2u + 3u) << "16 in a row";
  flush(1);
  for (std::size_t i = 56; i < 60; ++i) {
    for (std::size_t k = 0; k < some.size(); ++k) ASSERT_EQ(at(1, i % 4 * 128 + k), 200 * i + k);
  }
  unlock_all();
}

}  // namespace
}  // namespace oriel::test
