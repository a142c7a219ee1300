// SPDX-License-Identifier: BSD-3-Clause
// Operations that fail after their call has returned: the first flush or closing call that asks
// reports them, and no later one (E9, G7).
#include <gtest/gtest.h>

#include <cstdint>
#include <span>

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
