// SPDX-License-Identifier: BSD-3-Clause
// Flushes of all targets that need not look at any (G8): after one that has found nothing to wait
// for, until something goes the general path, or an epoch is closed.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

class AllFlushed : public ::testing::Test {
 protected:
  AllFlushed() {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
  }

  /// By the general path.
  void put(int target) { issue(origin(), on_word(OperationKind::put, &value_, target)); }
  void lock(int target) { ASSERT_EQ(origin().lock(false, target, {}), Error::none); }
  Error flush_all(bool local = false) {
    return error_of(job_,
                    [&](Completion* posted) { return origin().epochs().flush_all(local, posted); });
  }
  Error unlock(int target) {
    return error_of(job_, [&](Completion* posted) { return origin().unlock(target, posted); });
  }
  Window& origin() { return job_.window(0); }

  SimJob job_{{0, 0, 1}};
  std::uint64_t value_ = 1;
};

TEST_F(AllFlushed, UntilAnOperationGoesTheGeneralPath) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  for (const int target : {1, 2}) {
    put(target);
    EXPECT_FALSE(origin().pending().all_flushed());
    EXPECT_EQ(flush_all(), Error::none);
    // Where it had to wait, the next one finds that there is nothing left.
    EXPECT_EQ(flush_all(), Error::none);
    EXPECT_TRUE(origin().pending().all_flushed());
  }
  ASSERT_NE(origin().find_address(1, 0, 8), nullptr);
  EXPECT_TRUE(origin().pending().all_flushed()) << "what has gone straight to memory is there";
  EXPECT_TRUE(origin().unlock_all(nullptr).ok());
}

TEST_F(AllFlushed, NotWhileALocalFlushLeavesSomething) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  put(1);
  EXPECT_EQ(flush_all(true), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  put(2);
  EXPECT_TRUE(origin().epochs().flush_all(true, nullptr).done);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_TRUE(origin().unlock_all(nullptr).ok());
}

TEST_F(AllFlushed, NotWhereNoEpochIsOpen) {
  EXPECT_FALSE(origin().pending().all_flushed());
  lock(1);
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  EXPECT_EQ(unlock(1), Error::none);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(flush_all(), Error::sync);
  ASSERT_EQ(origin().lock_all({}), Error::none);
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  ASSERT_TRUE(origin().unlock_all(nullptr).ok());
  job_.run_until_idle();
  EXPECT_FALSE(origin().pending().all_flushed());
}

TEST_F(AllFlushed, NotWhileAStoreIsLeftToItsTarget) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  put(1);
  EXPECT_EQ(flush_all(), Error::none);
  ASSERT_TRUE(origin().put_notified(1, 0, &value_, 8, {NotifyKind::tag, 1, 8}));
  ASSERT_EQ(origin().peer(1).postponed.load(), Postponed::inlined_stores);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(flush_all(true), Error::none);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  EXPECT_TRUE(origin().unlock_all(nullptr).ok());
}

TEST_F(AllFlushed, NotWhileTheNetworkUpdates) {
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.atomics = {bit(Basic::u64), every_op};
  Window& updating = job_.window(0, job_.create_window(spec));
  ASSERT_EQ(updating.lock_all(no_check()), Error::none);
  issue(updating, on_word(OperationKind::accumulate, &value_, 1));
  PostedCall flushed;
  flushed.take(updating.epochs().flush_all(false, &flushed));
  EXPECT_FALSE(flushed.done());
  EXPECT_FALSE(updating.pending().all_flushed());
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_TRUE(updating.epochs().flush_all(false, nullptr).done);
  EXPECT_TRUE(updating.pending().all_flushed());
  EXPECT_TRUE(updating.unlock_all(nullptr).ok());
}

TEST_F(AllFlushed, NotBeforeWeakUnlocksHaveBeenAnsweredFor) {
  ASSERT_EQ(origin().lock(false, 2, weak_unlock()), Error::none);
  put(2);
  lock(1);
  EXPECT_EQ(unlock(2), Error::none);
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_FALSE(origin().pending().all_flushed()) << "the target may be locked once more";
  EXPECT_EQ(unlock(1), Error::none);
  ASSERT_EQ(origin().lock_all({}), Error::none);
  EXPECT_EQ(flush_all(true), Error::none);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  EXPECT_TRUE(origin().unlock_all(nullptr).ok());
}

// It is sent by a sweep, when an epoch before it is over, while another target is locked and
// flushed.
TEST_F(AllFlushed, NotWhenAWeakUnlockIsSentLater) {
  ASSERT_EQ(job_.window(2).lock(true, 2, {}), Error::none);
  job_.run_until_idle();
  lock(2);
  put(2);
  PostedCall first;
  first.take(origin().unlock(2, &first));
  ASSERT_EQ(origin().lock(true, 2, weak_unlock()), Error::none);
  put(2);
  PostedCall second;
  second.take(origin().unlock(2, &second));
  lock(1);
  EXPECT_EQ(flush_all(), Error::none);
  EXPECT_TRUE(origin().pending().all_flushed());
  ASSERT_TRUE(job_.window(2).unlock(2, nullptr).ok());
  job_.run_until_idle();
  EXPECT_TRUE(first.done() && second.done());
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(unlock(1), Error::none);
}

}  // namespace
}  // namespace oriel::test
