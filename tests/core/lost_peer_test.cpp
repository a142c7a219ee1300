// SPDX-License-Identifier: BSD-3-Clause
// Who waits for long asks after those processes that it waits for, and no others: between nodes
// each takes a connection (B4).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Ranks = std::set<int>;

/// Five ranks on nodes of their own.
class LostPeer : public ::testing::Test {
 protected:
  LostPeer() : job_({0, 1, 2, 3, 4}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
  }
  Window& rank(int index) { return job_.window(index); }
  void put(int origin, int target) {
    issue(rank(origin), on_word(OperationKind::put, &value_, target));
  }
  /// Whom rank 0 asks after.
  Ranks asked() {
    EXPECT_EQ(rank(0).epochs().lost_peer(), -1);
    return job_.transport(0).collect_asked();
  }

  static inline const Ranks everybody = {0, 1, 2, 3, 4};
  SimJob job_;
  std::uint64_t value_ = 7;
};

TEST_F(LostPeer, AFlushWaitsForItsTarget) {
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (const int target : {1, 2}) put(0, target);
  PostedCall granted;
  granted.take(rank(0).epochs().flush_all(false, &granted));
  job_.run_until_idle();
  ASSERT_TRUE(granted.done());
  put(0, 2);
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(2, false, &flushed));
  EXPECT_EQ(asked(), (Ranks{2}));
  job_.transport(0).set_ended(1);
  EXPECT_EQ(rank(0).epochs().lost_peer(), -1) << "nobody waits for it";
  job_.transport(0).set_ended(2);
  EXPECT_EQ(rank(0).epochs().lost_peer(), 2);
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
}

TEST_F(LostPeer, AnExposureWaitsForOriginsThatAreNotDone) {
  const std::array<int, 3> origins = {1, 2, 3};
  const std::array<int, 1> target = {0};
  ASSERT_EQ(rank(0).epochs().post(origins, {}), Error::none);
  ASSERT_EQ(rank(2).epochs().start(target, {}), Error::none);
  EXPECT_TRUE(rank(2).epochs().complete(nullptr).done);
  PostedCall waited;
  waited.take(rank(0).epochs().wait(&waited));
  job_.run_until_idle();
  EXPECT_EQ(asked(), (Ranks{1, 3}));
}

// Its operations have left, and the next epoch waits until they may have taken effect.
TEST_F(LostPeer, AnAccessWaitsForItsTarget) {
  const std::array<int, 1> first = {3};
  const std::array<int, 1> second = {4};
  ASSERT_EQ(rank(0).epochs().start(first, {}), Error::none);
  put(0, 3);
  ASSERT_TRUE(rank(0).epochs().complete(nullptr).done);
  ASSERT_EQ(rank(0).epochs().start(second, {}), Error::none);
  put(0, 4);
  PostedCall completed;
  completed.take(rank(0).epochs().complete(&completed));
  job_.run_until_idle();
  ASSERT_FALSE(completed.done());
  EXPECT_EQ(asked(), (Ranks{3}));
}

TEST_F(LostPeer, AFenceWaitsForEverybody) {
  PostedCall fenced;
  fenced.take(rank(0).epochs().fence(no_succeed(), true, &fenced));
  job_.run_until_idle();
  EXPECT_EQ(asked(), everybody);
}

// Anybody may hold it, and die with it.
TEST_F(LostPeer, ALockWaitsForEverybody) {
  ASSERT_EQ(rank(2).lock(true, 1, {}), Error::none);
  put(2, 1);
  job_.run_until_idle();
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  put(0, 1);
  PostedCall unlocked;
  unlocked.take(rank(0).unlock(1, &unlocked));
  job_.run_until_idle();
  ASSERT_FALSE(unlocked.done());
  EXPECT_EQ(asked(), everybody);
}

}  // namespace
}  // namespace oriel::test
