// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 chooses while a plan is made (C4): by the longest message of any rank, and the same
// on all ranks; or nothing, where some rank could not follow.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/plans.hpp"

namespace oriel::test {
namespace {

class PlanChoiceOn : public ::testing::TestWithParam<std::vector<int>> {
 protected:
  /// All ranks take part in a plan; each is asked to choose, but rank 0 alone should be.
  void make(Plans& plans, int bound = -1, int bad = -1) {
    for (int rank = 0; rank < plans.ranks(); ++rank) {
      PlanTerms terms;
      terms.signature = 0xffffffff;
      terms.bound = rank == bound;
      terms.bad_arguments = rank == bad ? 7 : 0;
      terms.choose = [this, rank](std::uint64_t longest) {
        asked_.push_back(rank);
        longest_ = longest;
        return std::uint8_t{200};
      };
      plans.begin_making_at(rank, terms);
    }
    plans.end_making();
  }

  std::vector<int> asked_;
  std::uint64_t longest_ = 0;
};

TEST_P(PlanChoiceOn, IsThatOfRank0OnAllRanks) {
  Plans plans(GetParam());
  plans.pass(0, 1, 3);
  plans.pass(1, 2, 70);
  plans.pass(2, 0, 20, true);
  make(plans);
  EXPECT_EQ(asked_, std::vector{0});
  EXPECT_EQ(longest_, 8u * 70);
  for (int rank = 0; rank < plans.ranks(); ++rank) {
    EXPECT_FALSE(plans.plan(rank).fault());
    EXPECT_EQ(plans.plan(rank).choice(), 200);
  }
  // It is a plan like any other, whatever was chosen.
  plans.use();
  plans.free();
  plans.make();
  for (int rank = 0; rank < plans.ranks(); ++rank) EXPECT_EQ(plans.plan(rank).choice(), 0);
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_P(PlanChoiceOn, OfNoMessages) {
  Plans plans(GetParam());
  make(plans);
  EXPECT_EQ(longest_, 0u);
  for (int rank = 0; rank < plans.ranks(); ++rank) EXPECT_EQ(plans.plan(rank).choice(), 200);
}

TEST_P(PlanChoiceOn, IsNoneWhereARankIsBound) {
  for (int bound = 0; bound < 3; ++bound) {
    Plans plans(GetParam());
    plans.pass(0, 1, 3);
    make(plans, bound);
    EXPECT_TRUE(asked_.empty());
    for (int rank = 0; rank < plans.ranks(); ++rank) {
      EXPECT_FALSE(plans.plan(rank).fault());
      EXPECT_EQ(plans.plan(rank).choice(), 0);
    }
  }
}

TEST_P(PlanChoiceOn, HidesNoFault) {
  for (int bad = 0; bad < 3; ++bad) {
    Plans plans(GetParam());
    plans.pass(0, 1, 3);
    make(plans, -1, bad);
    for (int rank = 0; rank < plans.ranks(); ++rank) {
      EXPECT_EQ(plans.plan(rank).fault().kind, PlanFault::Kind::arguments);
      EXPECT_EQ(plans.plan(rank).fault().sender, bad);
    }
    EXPECT_TRUE(asked_.empty());
  }
  // One that is found when rank 0 has chosen.
  Plans plans(GetParam());
  plans.send(1, 2, Plans::buffer(plans.words(4)));
  plans.receive(2, 1, Plans::buffer(plans.words(3)));
  make(plans);
  for (int rank = 0; rank < plans.ranks(); ++rank) {
    EXPECT_EQ(plans.plan(rank).fault().kind, PlanFault::Kind::truncated);
  }
}

/// Longer than the word has space for: as long as it can say, and no other protocol for that.
TEST_P(PlanChoiceOn, KnowsNoLongerMessage) {
  Plans plans(GetParam());
  const LayoutRef wide(new Layout({{0, std::uint64_t{1} << 33}}, 1 << 30, Basic::none));
  const Buffer buffer{plans.words(1).data(), 1, wide};
  plans.send(0, 1, buffer);
  plans.receive(1, 0, buffer);
  make(plans);
  EXPECT_EQ(longest_, PlanTerms::longest_announced);
  for (int rank = 0; rank < plans.ranks(); ++rank) {
    EXPECT_FALSE(plans.plan(rank).fault());
    EXPECT_EQ(plans.plan(rank).choice(), 200);
  }
  plans.free();
}

INSTANTIATE_TEST_SUITE_P(Placements, PlanChoiceOn,
                         ::testing::Values(std::vector{0, 0, 0}, std::vector{0, 1, 0},
                                           std::vector{0, 1, 2}),
                         placement_name);

}  // namespace
}  // namespace oriel::test
