// SPDX-License-Identifier: BSD-3-Clause
// The word that tells which access epochs are complete (E8), against a set of their numbers.
#include "core/epoch/epoch_peer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "support/random.hpp"

namespace oriel::test {
namespace {

TEST(DoneWord, CoversNothingAtFirst) {
  const DoneWord word;
  for (std::uint64_t id = 1; id < 50; ++id) EXPECT_FALSE(word.covers(id));
}

TEST(DoneWord, CountsInOrder) {
  DoneWord word;
  for (std::uint64_t id = 1; id <= 100'000; ++id) {
    ASSERT_TRUE(word.add(id));
    ASSERT_TRUE(word.covers(id));
    ASSERT_FALSE(word.covers(id + 1));
  }
}

TEST(DoneWord, RefusesWhatIsOutOfReachAndTakesItLater) {
  DoneWord word;
  for (std::uint64_t id = 2; id <= DoneWord::reach; ++id) EXPECT_TRUE(word.add(id));
  const std::uint64_t before = word.word();
  EXPECT_FALSE(word.add(DoneWord::reach + 1));
  EXPECT_EQ(word.word(), before);
  EXPECT_FALSE(word.covers(DoneWord::reach + 1));
  EXPECT_TRUE(word.add(1));
  EXPECT_TRUE(word.covers(DoneWord::reach));
  EXPECT_TRUE(word.add(DoneWord::reach + 1));
}

// Epochs complete in any order within reach; the word says at any time which.
TEST(DoneWord, AgreesWithASet) {
  Random random(20);
  for (int round = 0; round < 200; ++round) {
    DoneWord word;
    std::set<std::uint64_t> told;
    std::set<std::uint64_t> open;
    std::uint64_t opened = 0;
    for (int step = 0; step < 300; ++step) {
      if (open.empty() || random.chance(50)) open.insert(++opened);
      auto chosen = open.begin();
      std::advance(chosen, random.below(static_cast<int>(open.size())));
      if (word.add(*chosen)) {
        told.insert(*chosen);
        open.erase(chosen);
      } else {
        // Only because of an epoch that has been open for long.
        ASSERT_GE(*chosen - *open.begin(), DoneWord::reach);
      }
      for (std::uint64_t id = 1; id <= opened + 2; ++id) {
        ASSERT_EQ(word.covers(id), told.count(id) != 0) << "epoch " << id;
      }
    }
  }
}

}  // namespace
}  // namespace oriel::test
