// SPDX-License-Identifier: BSD-3-Clause
// B4: the links between ranks are few, and what one rank hears of a loss reaches all that are left.
#include "transport/ofi/lifeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace oriel::test {
namespace {

/// All links of a job, in both directions: both ends hear and tell.
struct Links {
  explicit Links(std::vector<std::uint64_t> of_ranks)
      : nodes(std::move(of_ranks)), ends(nodes.size()) {
    const Watchers watchers(nodes);
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      for (const int other : watchers.watched_by(static_cast<int>(rank))) {
        EXPECT_NE(static_cast<std::size_t>(other), rank);
        watched.emplace(rank, other);
        ends[rank].push_back(static_cast<std::size_t>(other));
        ends[static_cast<std::size_t>(other)].push_back(rank);
      }
    }
    // The processes that a rank expects to begin a link are those that begin one.
    std::size_t expected = 0;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      for (const int other : watchers.watchers_of(static_cast<int>(rank))) {
        EXPECT_TRUE(watched.contains({other, rank})) << other << " to " << rank;
        ++expected;
      }
    }
    EXPECT_EQ(expected, watched.size());
  }
  std::size_t most() const {
    return std::ranges::max(ends, {}, &std::vector<std::size_t>::size).size();
  }
  /// After how many steps from link to link all ranks of other nodes than `lost` have heard of what
  /// rank `first` has; 0: some never do.
  int steps_to_all(std::size_t first, std::uint64_t lost) const {
    std::vector<bool> heard(nodes.size(), false);
    std::vector<std::size_t> last{first};
    heard[first] = true;
    int steps = 0;
    while (!last.empty()) {
      ++steps;
      std::vector<std::size_t> next;
      for (const std::size_t rank : last) {
        for (const std::size_t other : ends[rank]) {
          if (heard[other] || nodes[other] == lost) continue;
          heard[other] = true;
          next.push_back(other);
        }
      }
      last = std::move(next);
    }
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      if (!heard[rank] && nodes[rank] != lost) return 0;
    }
    return steps;
  }

  bool seen_from_another_node(std::uint64_t node) const {
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] != node) continue;
      for (const std::size_t other : ends[rank]) {
        if (nodes[other] != node) return true;
      }
    }
    return false;
  }

  std::vector<std::uint64_t> nodes;
  std::vector<std::vector<std::size_t>> ends;             // by rank
  std::set<std::pair<std::size_t, std::size_t>> watched;  // links from rank to rank
};

constexpr std::uint64_t none = ~std::uint64_t{0};

TEST(Watchers, SixtyFiveThousandRanksHaveFewConnections) {
  constexpr std::size_t ranks = 65'536;
  for (const std::size_t each : {1, 128}) {
    for (const bool in_turn : {false, true}) {
      std::vector<std::uint64_t> nodes(ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        nodes[rank] = in_turn ? rank % (ranks / each) : rank / each;
      }
      const Links links(std::move(nodes));
      EXPECT_EQ(links.most(), 32U) << "16 in each direction: log2 of the number of ranks";
      const int steps = links.steps_to_all(12'345, none);
      EXPECT_GT(steps, 0);
      EXPECT_LE(steps, 17);
    }
  }
}

// One rank beside a thousand of another node has no more connections than any other.
TEST(Watchers, NodesOfDifferentSizesHaveFewConnections) {
  for (const std::size_t others : {1, 63}) {
    std::vector<std::uint64_t> nodes{0};
    for (std::size_t node = 1; node <= others; ++node) nodes.insert(nodes.end(), 1000, node);
    const Links links(std::move(nodes));
    EXPECT_LE(links.most(), 32U);
    EXPECT_GT(links.steps_to_all(1, none), 0);
  }
}

// Each node is watched from another one, and a lost node does not part the others.
TEST(Watchers, EveryNodeIsWatchedAndNoneIsAMiddle) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int count = random.between(2, 9);
    std::vector<std::uint64_t> nodes;
    for (int node = 0; node < count; ++node) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(random.between(1, 12)),
                   1000 + static_cast<std::uint64_t>(node));
    }
    for (std::size_t rank = nodes.size(); rank > 1; --rank) {
      std::swap(nodes[rank - 1],
                nodes[static_cast<std::size_t>(random.below(static_cast<int>(rank)))]);
    }
    const Links links(nodes);
    for (int node = 0; node < count; ++node) {
      const std::uint64_t name = 1000 + static_cast<std::uint64_t>(node);
      EXPECT_TRUE(links.seen_from_another_node(name)) << node;
    }
    const std::uint64_t lost = nodes.front();
    const auto left = std::ranges::find_if(nodes, [&](std::uint64_t node) { return node != lost; });
    EXPECT_GT(links.steps_to_all(static_cast<std::size_t>(left - nodes.begin()), lost), 0);
  }
}

TEST(Watchers, OneRankAndOneNode) {
  EXPECT_TRUE(Watchers(std::vector<std::uint64_t>{7}).watched_by(0).empty());
  EXPECT_EQ(Watchers(std::vector<std::uint64_t>{7, 7, 7}).watched_by(1), (std::vector<int>{2, 0}));
}

}  // namespace
}  // namespace oriel::test
