// SPDX-License-Identifier: BSD-3-Clause
// What a waiting call does for the host and for its peers meanwhile.
#include "engine/progress/waiting.hpp"

#include <gtest/gtest.h>

#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

class Waiting : public ::testing::Test {
 protected:
  template <typename Done, typename Lost>
  EngineFailure wait(Done&& done, Lost&& lost) {
    const Guard guard(rank_.engine.lock);
    return sweep_until(rank_.engine, events_of_no_window(rank_.engine), {WaitReason::request}, done,
                       lost);
  }
  static EngineFailure none_lost() { return {}; }

  SimGroup group_{1};
  SimRank rank_{group_, 0};
};

TEST_F(Waiting, AdvancesTheHost) {
  EXPECT_FALSE(wait([&] { return rank_.host.advanced > 1; }, none_lost));
}

TEST_F(Waiting, NotifiesTheHostOfRequests) {
  rank_.host.to_complete = 1;
  EXPECT_FALSE(wait([&] { return !rank_.host.any_to_complete(); }, none_lost));
}

TEST_F(Waiting, EndsByTheFailureOfLost) {
  const EngineFailure failed =
      wait([] { return false; }, [] { return said(Error::peer_lost, "rank 1 has ended"); });
  EXPECT_EQ(failed.error, Error::peer_lost);
  EXPECT_STREQ(failed.reason, "rank 1 has ended");
}

TEST_F(Waiting, ShowsLongWaitsOldestFirst) {
  ShmTransport& node = rank_.running().transports.shm();
  const auto shown = [&] { return node.wait_sign(node.self()).look(); };
  {
    const WindowEvents events = events_of_no_window(rank_.engine);
    LongWait first(rank_.engine, events, {WaitReason::fence});
    EXPECT_FALSE(shown().has_value());
    EXPECT_EQ(first.report(), "");
    {
      LongWait second(rank_.engine, events, {WaitReason::lock});
      EXPECT_EQ(second.report(), "");
      EXPECT_EQ(shown()->reason, static_cast<std::uint32_t>(WaitReason::fence));
    }
    EXPECT_TRUE(shown().has_value());
  }
  EXPECT_FALSE(shown().has_value());
}

}  // namespace
}  // namespace oriel::test
