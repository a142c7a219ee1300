// SPDX-License-Identifier: BSD-3-Clause
// The barrier of a window's ranks, mapped and remote ones, in any order of what they do.
#include "core/remote/exchange.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Ranks on nodes of so many: mapped and remote ones, or mapped ones alone.
std::vector<int> nodes_of(int ranks, int each) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / each);
  return nodes;
}

TEST(Barrier, IsOverWhenAllHaveEntered) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int ranks = random.between(1, 13);
    SimJob job(nodes_of(ranks, random.chance(20) ? ranks : 2));
    SimWindowSpec spec;
    spec.bytes = 64;
    job.create_window(spec);
    std::vector<bool> entered(static_cast<std::size_t>(ranks), false);
    std::vector<bool> over(static_cast<std::size_t>(ranks), false);
    int in = 0;
    int out = 0;
    int moves = 0;
    while (out < ranks) {
      ASSERT_LT(++moves, 100'000) << "nobody gets on";
      const int rank = random.below(ranks);
      const auto at = static_cast<std::size_t>(rank);
      Barrier& barrier = job.window(rank).barrier();
      if (!entered[at] && random.chance(20)) {
        barrier.enter();
        entered[at] = true;
        ++in;
      }
      if (random.chance(50)) job.round();
      if (over[at] || !barrier.over()) continue;
      ASSERT_EQ(in, ranks);
      over[at] = true;
      ++out;
    }
  }
}

Message step(int origin, std::uint64_t number) {
  Message message;
  message.kind = MessageKind::barrier;
  message.origin = origin;
  message.stamp = number;
  return message;
}

// With five ranks, each rank has three steps, from the ranks 1, 2 and 4 before it.
TEST(Barrier, TakesEachStepOnceAndFromItsRankAlone) {
  SimJob job({0, 1, 2, 3, 4});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  Barrier& barrier = job.window(0).barrier();
  EXPECT_FALSE(barrier.receive(step(3, 0)));
  EXPECT_FALSE(barrier.receive(step(2, 3)));
  EXPECT_FALSE(barrier.receive(step(4, 64)));
  EXPECT_TRUE(barrier.receive(step(4, 0)));
  EXPECT_FALSE(barrier.receive(step(4, 0)));
  EXPECT_TRUE(barrier.receive(step(3, 1)));
  EXPECT_TRUE(barrier.receive(step(1, 2)));
  EXPECT_FALSE(barrier.over()) << "it has not entered";
  barrier.enter();
  EXPECT_TRUE(barrier.over());
}

}  // namespace
}  // namespace oriel::test
