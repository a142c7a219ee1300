// SPDX-License-Identifier: BSD-3-Clause
// Operations that fail after their call has returned: the first flush or closing call that asks
// reports them, and no later one (E9, G7).
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

class FailedOperations : public ::testing::Test {
 protected:
  FailedOperations() {
    SimWindowSpec spec;
    spec.bytes = 2 * sizeof(std::uint64_t);
    spec.direct = true;
    job_.create_window(spec);
  }
  /// All of it is carried out by direct transfers.
  static Limits limits() {
    Limits limits;
    limits.direct = 0;
    limits.direct_run = 0;
    return limits;
  }
  Window& window() { return job_.window(0); }
  void put(int target) { issue(window(), on_word(OperationKind::put, &value_, target)); }
  void put_in_vain(int target) {
    put(target);
    job_.network().set_failing(true);
    job_.run_until_idle();
    job_.network().set_failing(false);
  }
  Error flush(int target, bool local = false) {
    return error_of(job_,
                    [&](Completion* done) { return window().epochs().flush(target, local, done); });
  }
  Error flush_all() {
    return error_of(job_,
                    [&](Completion* done) { return window().epochs().flush_all(false, done); });
  }
  Error unlock() {
    return error_of(job_, [&](Completion* done) { return window().unlock(1, done); });
  }
  Error unlock_all() {
    return error_of(job_, [&](Completion* done) { return window().unlock_all(done); });
  }

  SimJob job_{{0, 1, 2}, false, limits()};
  std::uint64_t value_ = 7;
};

TEST_F(FailedOperations, AFlushThatWaitsForThemReportsThem) {
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  put(1);
  job_.network().set_failing(true);
  EXPECT_EQ(flush(1), Error::system);
  job_.network().set_failing(false);
  put(1);
  EXPECT_EQ(flush(1), Error::none);
  EXPECT_EQ(unlock(), Error::none) << "it has been reported";
}

TEST_F(FailedOperations, AFlushThatComesLaterReportsThem) {
  for (const bool local : {false, true}) {
    ASSERT_EQ(window().lock(true, 1, {}), Error::none);
    put_in_vain(1);
    EXPECT_FALSE(window().flushed(1, false));
    EXPECT_EQ(flush(1, local), Error::system);
    EXPECT_EQ(flush(1, local), Error::none);
    EXPECT_EQ(unlock(), Error::none);
  }
}

TEST_F(FailedOperations, WithoutAFlushTheUnlockReportsThem) {
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  put_in_vain(1);
  EXPECT_EQ(unlock(), Error::system);
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  EXPECT_EQ(unlock(), Error::none);
}

TEST_F(FailedOperations, OfOtherTargetsAreLeftToWhoAsksForThose) {
  for (const bool all : {false, true}) {
    ASSERT_EQ(window().lock_all({}), Error::none);
    put_in_vain(1);
    put(2);
    EXPECT_EQ(flush(2), Error::none);
    if (all) {
      EXPECT_EQ(flush_all(), Error::system);
    }
    EXPECT_EQ(unlock_all(), all ? Error::none : Error::system);
  }
}

// The operations are carried out together, when the lock is granted.
TEST(FailedOperationsOfAnAwaitedLock, AreReportedByTheOldestFlushThatCoversThem) {
  SimJob job({0, 0, 0});
  SimWindowSpec spec;
  spec.bytes = 2 * sizeof(std::uint64_t);
  spec.pieces = 1;
  const int window = job.create_window(spec);
  Window& origin = job.window(0);
  const std::uint64_t value = 7;
  const std::int64_t attached = job.displacement(1, window, 0);
  const auto put = [&](std::int64_t displacement) {
    issue(origin, on_word(OperationKind::put, &value, 1, displacement));
  };
  for (const bool local : {false, true}) {
    ASSERT_EQ(job.window(2).lock(true, 1, {}), Error::none);
    job.run_until_idle();
    ASSERT_EQ(origin.lock(true, 1, {}), Error::none);
    std::array<Flag, 3> flushed;
    const auto flush = [&](Flag& flag) {
      ASSERT_FALSE(origin.epochs().flush(1, local, &flag).done);
    };
    put(attached);
    flush(flushed[0]);
    put(8);  // no attached memory
    flush(flushed[1]);
    put(attached);
    flush(flushed[2]);
    put(8);
    EXPECT_EQ(error_of(job, [&](Completion* done) { return job.window(2).unlock(1, done); }),
              Error::none);
    job.run_until_idle();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(flushed[static_cast<std::size_t>(i)].done());
      EXPECT_EQ(flushed[static_cast<std::size_t>(i)].error(), i == 1 ? Error::range : Error::none);
    }
    const auto last = [&](Completion* done) { return origin.epochs().flush(1, local, done); };
    EXPECT_EQ(error_of(job, last), Error::range);
    EXPECT_EQ(error_of(job, [&](Completion* done) { return origin.unlock(1, done); }), Error::none);
  }
}

// A question that is sent because no more may be sent ahead, before that of the flush.
TEST(FailedOperationsSentAhead, AreReportedByTheFlush) {
  Limits limits;
  limits.ahead = 150;
  SimJob job({0, 1}, false, limits);
  SimWindowSpec spec;
  spec.bytes = 2 * sizeof(std::uint64_t);
  spec.pieces = 1;
  const int window = job.create_window(spec);
  Window& origin = job.window(0);
  std::uint64_t value = 7;
  const std::int64_t attached = job.displacement(1, window, 0);
  const auto put = [&](std::int64_t displacement) {
    issue(origin, on_word(OperationKind::put, &value, 1, displacement));
  };
  const auto flush = [&](Completion* done) { return origin.epochs().flush(1, false, done); };
  const auto unlock = [&](Completion* done) { return origin.unlock(1, done); };
  // Some records have been used, and have ages.
  ASSERT_EQ(origin.lock(false, 1, {}), Error::none);
  for (int i = 0; i < 3; ++i) {
    Operation get = on_word(OperationKind::get, nullptr, 1, attached);
    std::swap(get.origin, get.result);
    get.result.address = &value;
    issue(origin, get);
  }
  ASSERT_EQ(error_of(job, flush), Error::none);
  ASSERT_EQ(error_of(job, unlock), Error::none);
  for (int i = 0; i < 2; ++i) {
    std::array<Flag, 2> fenced;
    for (int rank : {0, 1}) {
      Flag& one = fenced[static_cast<std::size_t>(rank)];
      ASSERT_FALSE(job.window(rank).epochs().fence({}, false, &one).done);
    }
    job.run_until_idle();
    for (Flag& one : fenced) ASSERT_TRUE(one.done());
  }
  ASSERT_EQ(origin.lock(false, 1, no_check()), Error::none);
  put(8);  // no attached memory
  put(attached);
  put(attached);
  EXPECT_EQ(error_of(job, flush), Error::range);
  EXPECT_EQ(error_of(job, unlock), Error::none);
}

// Rank 1 is the test, which refuses a put that has no reply of its own when it is asked.
TEST_F(FailedOperations, WhatTheTargetRefusesIsReportedByTheFlush) {
  ASSERT_EQ(window().lock(true, 1, no_check()), Error::none);
  Operation sum = on_word(OperationKind::accumulate, &value_, 1);
  issue(window(), sum);
  Flag flushed;
  ASSERT_FALSE(window().epochs().flush(1, false, &flushed).done);
  for (const SimNetwork::Route& route : job_.network().under_way()) {
    while (job_.network().deliver(route)) {
    }
  }
  bool asked = false;
  for (auto bytes = job_.transport(1).receive(); !bytes.empty();
       bytes = job_.transport(1).receive()) {
    Message question;
    ASSERT_TRUE(question.read_header(bytes));
    if (question.acknowledge == 0) continue;
    asked = true;
    Message reply;
    reply.kind = MessageKind::reply;
    reply.origin = 1;
    reply.word = question.word;
    reply.error = Error::range;
    EXPECT_TRUE(window().deliver(reply, {}));
  }
  ASSERT_TRUE(asked);
  ASSERT_TRUE(flushed.done());
  EXPECT_EQ(flushed.error(), Error::range);
  EXPECT_EQ(unlock(), Error::none);
}

}  // namespace
}  // namespace oriel::test
