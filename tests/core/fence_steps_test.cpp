// SPDX-License-Identifier: BSD-3-Clause
// What a fence costs each of many ranks of a node (B8).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/lock/control.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// All words of a window that are in shared memory, to see which ones a call has stored.
class SharedWords {
 public:
  explicit SharedWords(SimJob& job) : job_(job) {}

  void note() {
    words_.clear();
    each([&](std::uint64_t word) { words_.push_back(word); });
  }
  /// Words that are not what they were.
  std::uint64_t changed() const {
    std::uint64_t count = 0;
    std::size_t place = 0;
    each([&](std::uint64_t word) { count += words_[place++] != word ? 1 : 0; });
    return count;
  }

 private:
  template <typename Visit>
  void each(Visit&& visit) const {
    const std::size_t bytes = ControlBlock::bytes(static_cast<std::size_t>(job_.ranks()));
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      const auto* control =
          reinterpret_cast<const std::byte*>(job_.window(rank).member(rank).control);
      for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, control + i, sizeof word);
        visit(word);
      }
    }
  }

  SimJob& job_;
  std::vector<std::uint64_t> words_;
};

/// The most words that one rank stores for a closing fence in which all of `ranks` take part.
std::uint64_t most_stores(int ranks) {
  SimJob job(std::vector<int>(static_cast<std::size_t>(ranks), 0));
  SimWindowSpec spec;
  spec.bytes = 8;
  job.create_window(spec);
  SharedWords words(job);
  std::uint64_t most = 0;
  for (int call = 0; call < 2; ++call) {
    std::vector<PostedCall> over(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      PostedCall& posted = over[static_cast<std::size_t>(rank)];
      words.note();
      posted.take(job.window(rank).epochs().fence({}, true, &posted));
      most = std::max(most, words.changed());
      EXPECT_EQ(posted.done(), rank == ranks - 1) << "the last to come ends it";
    }
    // One more look by each.
    for (int rank = 0; rank < ranks; ++rank) {
      words.note();
      job.process(rank).sweep();
      most = std::max(most, words.changed());
      EXPECT_TRUE(over[static_cast<std::size_t>(rank)].done());
    }
  }
  return most;
}

TEST(FenceSteps, FewRanksTellEachOther) {
  EXPECT_EQ(most_stores(8), 8u);
}

// One for the announcement, one for each level of the tree, one to say that all are here.
TEST(FenceSteps, StoresGrowWithTheLogarithm) {
  EXPECT_LE(most_stores(64), 1u + 2 + 1);
  EXPECT_LE(most_stores(128), 1u + 2 + 1);
}

// A target that opens its epoch by an announcement alone wakes those that wait for it.
TEST(FenceSteps, WhoWaitsForATargetIsWoken) {
  constexpr int ranks = 20;
  SimJob job(std::vector<int>(ranks, 0));
  SimWindowSpec spec;
  spec.bytes = 8;
  job.create_window(spec);
  Assert opens;
  opens.no_precede = true;
  const std::uint64_t value = 7;
  ASSERT_TRUE(job.window(3).epochs().fence(opens, false, nullptr).done);
  issue(job.window(3), on_word(OperationKind::put, const_cast<std::uint64_t*>(&value), 5));
  job.process(3).sweep();
  job.doorbell(3).sleeping = 1;
  const std::uint32_t rings = job.doorbell(3).rings;
  ASSERT_TRUE(job.window(4).epochs().fence(opens, false, nullptr).done);
  EXPECT_EQ(job.doorbell(3).rings, rings) << "nobody waits for this one";
  ASSERT_TRUE(job.window(5).epochs().fence(opens, false, nullptr).done);
  EXPECT_EQ(job.doorbell(3).rings, rings + 1);
  job.process(3).sweep();
  std::uint64_t there = 0;
  std::memcpy(&there, job.memory(5), sizeof there);
  EXPECT_EQ(there, value);
}

// The first rank's memory holds the tree, and goes when nobody looks at it any more.
TEST(FenceSteps, TheFirstRankLeavesLast) {
  constexpr int ranks = 17;
  SimJob job(std::vector<int>(ranks, 0));
  SimWindowSpec spec;
  spec.bytes = 8;
  job.create_window(spec);
  std::vector<PostedCall> over(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    PostedCall& posted = over[static_cast<std::size_t>(rank)];
    posted.take(job.window(rank).epochs().fence({}, true, &posted));
  }
  for (int rank = 0; rank < ranks; ++rank) job.process(rank).sweep();
  EXPECT_FALSE(job.window(0).depart());
  job.doorbell(0).sleeping = 1;
  for (int rank = 1; rank < ranks; ++rank) {
    EXPECT_FALSE(job.window(0).depart());
    EXPECT_TRUE(job.window(rank).depart());
    EXPECT_TRUE(job.window(rank).depart()) << "asked twice";
  }
  EXPECT_NE(job.doorbell(0).rings.load(), 0u);
  EXPECT_TRUE(job.window(0).depart());
}

// A call that neither closes nor opens anything here is one that others wait for (E3).
TEST(FenceSteps, WhoOpensNothingAnnouncesTheCall) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 8;
  job.create_window(spec);
  PostedCall over;
  over.take(job.window(0).epochs().fence({}, true, &over));
  EXPECT_FALSE(over.done());
  EXPECT_TRUE(job.window(1).epochs().fence(no_succeed(), false, nullptr).done);
  job.run_until_idle();
  EXPECT_TRUE(over.done());
  EXPECT_TRUE(job.window(1).epochs().quiet());
}

// Who has ended a fence that is counted by messages says so to those that it is mapped with, by a
// store: their words stay until it has.
TEST(FenceSteps, WordsStayUntilPeersHaveStoredTheirLast) {
  SimJob job({0, 0, 1});
  SimWindowSpec spec;
  spec.bytes = 8;
  job.create_window(spec);
  std::vector<PostedCall> over(3);
  for (int rank = 0; rank < 3; ++rank) {
    PostedCall& posted = over[static_cast<std::size_t>(rank)];
    posted.take(job.window(rank).epochs().fence({}, true, &posted));
  }
  // Rank 1 is away while the others end the fence.
  for (int i = 0; i < 100; ++i) {
    for (const SimNetwork::Route& route : job.network().under_way()) {
      while (job.network().deliver(route)) {
      }
    }
    if (!over[0].done()) job.process(1).sweep();
    job.process(2).sweep();
    if (!over[1].done()) job.process(0).sweep();
    if (over[0].done() != over[1].done()) break;
  }
  ASSERT_NE(over[0].done(), over[1].done());
  const int ended = over[0].done() ? 0 : 1;
  EXPECT_FALSE(job.window(ended).depart());
  job.run_until_idle();
  EXPECT_TRUE(over[0].done() && over[1].done());
  EXPECT_TRUE(job.window(ended).depart());
}

TEST(FenceTree, IsOverWhenTheLastOneHasCome) {
  for (const std::size_t ranks : {1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 1000u}) {
    std::vector<std::byte> space(FenceTree::bytes(ranks) + cache_line);
    auto* memory =
        space.data() +
        (cache_line - reinterpret_cast<std::uintptr_t>(space.data()) % cache_line) % cache_line;
    FenceTree tree(memory, ranks);
    for (std::uint64_t fence = 1; fence <= 3; ++fence) {
      for (std::size_t i = 0; i < ranks; ++i) {
        EXPECT_FALSE(tree.over(fence));
        // In another order each time.
        const std::size_t rank = fence == 2 ? ranks - 1 - i : i;
        EXPECT_EQ(tree.arrive(rank, fence), i == ranks - 1) << ranks;
      }
      EXPECT_TRUE(tree.over(fence));
    }
  }
}

}  // namespace
}  // namespace oriel::test
