// SPDX-License-Identifier: BSD-3-Clause
// B2, G2: which ranks a waiting call may take for lost.
#include "engine/progress/lost_peers.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "transport/sim/sim_job.hpp"

namespace oriel {
namespace {

/// Two ranks on nodes of their own, of which the other one has ended before it has entered the
/// fence that this one closes.
class LostPeers : public ::testing::Test {
 protected:
  LostPeers() : job_({0, 1}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
    Assert last;
    last.no_succeed = true;
    told_ = window().epochs().fence(last, true, nullptr).done;
    job_.transport(0).set_ended(1);
  }
  Window& window() { return job_.window(0); }
  std::set<int> asked() { return job_.transport(0).collect_asked(); }

  SimJob job_;
  bool told_ = false;
};

TEST_F(LostPeers, NameTheRank) {
  ASSERT_FALSE(told_);
  const EngineFailure lost = look_for_lost_peers(job_.process(0), window());
  EXPECT_EQ(lost.error, Error::peer_lost);
  EXPECT_EQ(std::string_view(lost.reason),
            "rank 1 of the window has ended or cannot be reached, so this call cannot complete");
}

// Networks drop what still comes from a process once they have been asked and know that it has
// ended: its last message, which may only not have been read yet.
TEST_F(LostPeers, AreNotAskedForWhileChecksAreSkipped) {
  LostPeerCheck lost(job_.process(0), window());
  lost.skip(2);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(lost());
  EXPECT_EQ(asked(), std::set<int>());
  EXPECT_TRUE(lost());
  EXPECT_EQ(asked(), std::set<int>({1}));
}

}  // namespace
}  // namespace oriel
