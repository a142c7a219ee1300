// SPDX-License-Identifier: BSD-3-Clause
// What a plan does when (C1, C4): how far ahead of its receiver a sender goes, who is woken, and in
// what order the steps of a rank are taken.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "support/plans.hpp"

namespace oriel::test {
namespace {

Reduction sum() {
  Reduction made;
  made.op = Op::sum;
  made.basic = Basic::u64;
  made.element = 8;
  return made;
}

/// The ranks in a row: each receives from the one before, adds it to its own, and sends that on.
class CollectiveChain : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(CollectiveChain, EachStepComesAfterTheOneBefore) {
  for (const std::size_t count : {1u, 13u, 40u}) {
    Plans plans(GetParam());
    const int last = plans.ranks() - 1;
    std::vector<Plans::Words*> own, arrives, sums;
    for (int rank = 0; rank <= last; ++rank) {
      own.push_back(&plans.words(count));
      arrives.push_back(&plans.words(count));
      sums.push_back(&plans.words(count));
      const int step = rank == 0 ? 0 : 1;
      // A copy comes before what is combined with it.
      plans.schedule(rank).copies.push_back(
          {Plans::buffer(*own.back()), Plans::buffer(*sums.back()), step});
      if (rank != 0) {
        plans.receive(rank, rank - 1, Plans::buffer(*arrives.back()));
        plans.schedule(rank).combinations.push_back(
            {arrives.back()->data(), sums.back()->data(), count, sum(), 1});
      }
      if (rank != last) {
        // In the first step, what goes to another rank goes before what we copy ourselves.
        plans.send(rank, rank + 1, Plans::buffer(rank == 0 ? *own.back() : *sums.back()), step);
      }
    }
    plans.make();
    for (std::uint64_t use = 1; use <= 4; ++use) {
      for (int rank = 0; rank <= last; ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        own[i]->assign(count, use * (i + 1));
      }
      plans.use();
      std::uint64_t expected = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        expected += use * (i + 1);
        EXPECT_EQ(*sums[i], Plans::Words(count, expected)) << "rank " << i << ", use " << use;
      }
    }
    plans.free();
    EXPECT_EQ(plans.refused(), 0u);
  }
}

// A receive of a later step may arrive with the first; its step is over all the same.
TEST_P(CollectiveChain, AStepWaitsForItsOwnReceivesAlone) {
  Plans plans(GetParam());
  for (const int step : {0, 1}) {
    plans.send(0, 1, Plans::buffer(plans.words(2, 5)), step);
    plans.receive(1, 0, Plans::buffer(plans.words(2)), 1 - step);
  }
  Plans::Words& answer = plans.words(1);
  plans.send(1, 0, Plans::buffer(plans.words(1, 8)), 1);
  plans.receive(0, 1, Plans::buffer(answer), 1);
  plans.make();
  for (int use = 0; use < 3; ++use) {
    answer[0] = 0;
    plans.use();
    EXPECT_EQ(answer[0], 8u);
  }
}

// Nothing but copies and combinations, in the last step too.
TEST_P(CollectiveChain, AStepWithoutTransfersIsTakenAtOnce) {
  Plans plans(GetParam());
  Plans::Words& from = plans.words(1, 3);
  Plans::Words& into = plans.words(1, 4);
  plans.schedule(0).combinations.push_back({from.data(), into.data(), 1, sum(), 2});
  plans.make();
  plans.start(0);
  EXPECT_TRUE(plans.completed(0));
  EXPECT_EQ(into[0], 7u);
}

/// Differences; to be called when the test says so.
class Difference final : public OwnOp {
 public:
  bool commutes() const override { return false; }
  bool callable() const override { return allowed; }
  void combine(const void* from, void* into, std::uint64_t count) override {
    const auto* const lower = static_cast<const std::uint64_t*>(from);
    auto* const higher = static_cast<std::uint64_t*>(into);
    for (std::uint64_t i = 0; i < count; ++i) higher[i] = lower[i] - higher[i];
    ++calls;
  }
  bool allowed = true;
  int calls = 0;
};

// Only the step that calls the op waits, and the program's next sweep goes on with it.
TEST_P(CollectiveChain, AStepWithAnOwnOpWaitsForASweepThatMayCallIt) {
  Plans plans(GetParam());
  const auto op = std::make_shared<Difference>();
  Plans::Words& own = plans.words(2, 50);
  Plans::Words& arrives = plans.words(2);
  Plans::Words& copied = plans.words(2);
  Plans::Words& answer = plans.words(2);
  plans.send(0, 1, Plans::buffer(plans.words(2, 8)));
  plans.receive(1, 0, Plans::buffer(arrives));
  plans.schedule(1).copies.push_back({Plans::buffer(arrives), Plans::buffer(copied), 1});
  plans.schedule(1).combinations.push_back({own.data(), copied.data(), 2, sum(), 2});
  plans.schedule(1).own_op = op;
  plans.send(1, 0, Plans::buffer(copied), 2);
  plans.receive(0, 1, Plans::buffer(answer), 1);
  plans.make();
  for (int use = 0; use < 3; ++use) {
    answer.assign(2, 0);
    copied.assign(2, 0);
    op->allowed = false;
    for (int rank = 0; rank < plans.ranks(); ++rank) plans.start(rank);
    plans.job().run_until_idle();
    EXPECT_EQ(copied, Plans::Words(2, 8)) << "the step before is taken";
    EXPECT_EQ(answer, Plans::Words(2, 0));
    EXPECT_FALSE(plans.completed(0) || plans.completed(1));
    op->allowed = true;
    plans.job().run_until_idle();
    EXPECT_EQ(answer, Plans::Words(2, 42));
    EXPECT_TRUE(plans.completed(0) && plans.completed(1));
  }
}

// It may follow what it reads.
TEST(CollectiveOwnOp, IsNotGivenWhatHasNotCome) {
  Plans plans({0, 0});
  const auto op = std::make_shared<Difference>();
  const Plans::Passage passage = plans.pass(0, 1, 50);
  plans.schedule(1).combinations.push_back(
      {plans.words(50).data(), passage.into->data(), 50, sum(), 1});
  plans.schedule(1).own_op = op;
  plans.make();
  for (const bool fails : {false, true, false}) {
    op->calls = 0;
    for (const int rank : {0, 1}) {
      plans.job().transport(rank).set_refusing(fails);
      plans.start(rank);
    }
    plans.job().run_until_idle();
    ASSERT_TRUE(plans.completed(1));
    EXPECT_EQ(plans.error(1) != Error::none, fails);
    EXPECT_EQ(op->calls, fails ? 0 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, CollectiveChain,
                         ::testing::Values(std::vector<int>{0, 0, 0, 0}, std::vector<int>{0, 1, 2},
                                           std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 0}),
                         placement_name);

/// Rank 0 sends to rank 1, which is on another node.
class CollectiveBetweenNodes : public ::testing::Test {
 protected:
  void lay_out(std::size_t count, bool gaps = false) {
    passage_ = plans_.pass(0, 1, count, gaps);
    plans_.make();
  }
  void fill(std::uint64_t value) { passage_.from->assign(passage_.from->size(), value); }
  std::uint64_t first() const { return passage_.into->front(); }
  std::uint64_t messages(int rank) { return plans_.job().transport(rank).messages_sent(); }

  Plans plans_{{0, 1}};
  Plans::Passage passage_{};
};

TEST_F(CollectiveBetweenNodes, AShortMessageGoesAheadByOneUse) {
  lay_out(2);
  fill(1);
  plans_.start(0);
  EXPECT_TRUE(plans_.completed(0)) << "nothing is waited for";
  EXPECT_FALSE(plans_.job().network().under_way().empty()) << "it leaves without a sweep";
  plans_.job().run_until_idle();
  EXPECT_EQ(first(), 0u) << "it is not the receiver's yet";
  fill(2);
  plans_.start(0);
  plans_.job().run_until_idle();
  EXPECT_FALSE(plans_.completed(0)) << "two would lie there";
  plans_.start(1);
  EXPECT_TRUE(plans_.completed(1)) << "it has come before";
  EXPECT_EQ(first(), 1u);
  plans_.job().run_until_idle();
  EXPECT_TRUE(plans_.completed(0));
  EXPECT_EQ(first(), 1u);
  fill(3);
  plans_.start(0);
  plans_.job().run_until_idle();
  EXPECT_FALSE(plans_.completed(0));
  plans_.start(1);
  EXPECT_TRUE(plans_.completed(1));
  EXPECT_EQ(first(), 2u);
}

TEST_F(CollectiveBetweenNodes, ALongMessageWaitsForThisUse) {
  for (const bool gaps : {false, true}) {
    plans_.clear();
    lay_out(80, gaps);
    for (std::uint64_t use = 1; use <= 3; ++use) {
      fill(use);
      const std::uint64_t before = messages(0);
      plans_.start(0);
      plans_.job().run_until_idle();
      EXPECT_FALSE(plans_.completed(0));
      EXPECT_EQ(messages(0), before) << "nothing is sent to who is not ready";
      EXPECT_EQ(first(), use - 1);
      plans_.start(1);
      EXPECT_FALSE(plans_.job().network().under_way().empty()) << "that it is ready leaves at once";
      plans_.job().run_until_idle();
      EXPECT_TRUE(plans_.completed(0));
      EXPECT_TRUE(plans_.completed(1));
      EXPECT_EQ(first(), use);
      // One behind a write, or a piece each.
      EXPECT_EQ(messages(0) - before, gaps ? 2u : 1u);
    }
    plans_.free();
  }
}

// A message in pieces looks at its route before each piece.
TEST_F(CollectiveBetweenNodes, ALongMessageWaitsWhileItsRouteIsCongested) {
  constexpr std::uint64_t pieces = 40;
  lay_out(2 * pieces * 32, true);
  SimNetwork& network = plans_.job().network();
  for (std::uint64_t use = 1; use <= 2; ++use) {
    fill(use);
    plans_.start(1);
    plans_.job().run_until_idle();
    const std::uint64_t before = messages(0);
    network.set_congesting(0);
    plans_.start(0);
    plans_.job().run_until_idle();
    EXPECT_EQ(messages(0), before);
    network.set_congesting(1);
    plans_.job().process(0).sweep();
    EXPECT_GT(messages(0), before);
    EXPECT_LT(messages(0) - before, pieces / 2) << "the first packet is in flight";
    plans_.job().run_until_idle();
    EXPECT_EQ(messages(0) - before, pieces);
    EXPECT_TRUE(plans_.completed(0) && plans_.completed(1));
    EXPECT_EQ(first(), use);
  }
}

// A short message also announces that its sender has begun the use, for which the receiver may
// wait.
TEST_F(CollectiveBetweenNodes, AShortMessageDoesNotWaitForACongestedRoute) {
  lay_out(2);
  fill(1);
  plans_.job().network().set_congesting(0);
  plans_.start(0);
  EXPECT_TRUE(plans_.completed(0));
  plans_.start(1);
  plans_.job().run_until_idle();
  EXPECT_TRUE(plans_.completed(1));
  EXPECT_EQ(first(), 1u);
}

// That it has begun is told by what it sends anyway.
TEST_F(CollectiveBetweenNodes, AShortMessageTellsThatItsSenderIsReady) {
  plans_.pass(1, 0, 2);
  lay_out(40);
  const std::uint64_t before = messages(1);
  plans_.use();
  EXPECT_EQ(messages(1) - before, 1u);
}

// Not one that comes later: the other side might wait for it with what it depends on.
TEST_F(CollectiveBetweenNodes, AMessageOfALaterStepTellsNothing) {
  Plans::Words& answer = plans_.words(1);
  plans_.send(1, 0, Plans::buffer(plans_.words(1, 4)), 1);
  plans_.receive(0, 1, Plans::buffer(answer));
  lay_out(40);
  plans_.use();
  EXPECT_EQ(answer[0], 4u);
}

TEST_F(CollectiveBetweenNodes, NoMessageIsLongerThanAPiece) {
  lay_out(2 * 100, true);
  fill(9);
  const std::uint64_t before = messages(0);
  plans_.use();
  EXPECT_EQ(messages(0) - before, 4u) << "800 bytes in pieces of 256";
  EXPECT_EQ(first(), 9u);
}

// What is not as long as its space arrives all the same, nothing at all too.
TEST_F(CollectiveBetweenNodes, LessIsSentThanThereIsRoomFor) {
  for (const std::size_t count : {0u, 1u, 17u, 40u}) {
    plans_.clear();
    plans_.send(0, 1, Plans::buffer(plans_.words(count, 6)));
    Plans::Words& into = plans_.words(50);
    plans_.receive(1, 0, Plans::buffer(into));
    plans_.make();
    plans_.use();
    plans_.use();
    Plans::Words expected(count, 6);
    expected.resize(50);
    EXPECT_EQ(into, expected);
    plans_.free();
  }
}

// What others say of a plan before this rank comes to it is for that plan alone.
TEST_F(CollectiveBetweenNodes, APlanIsMadeByOneRankBeforeTheOther) {
  for (const std::size_t space : {3u, 2u, 40u}) {
    plans_.clear();
    plans_.send(0, 1, Plans::buffer(plans_.words(space, space)));
    Plans::Words& into = plans_.words(space);
    plans_.receive(1, 0, Plans::buffer(into));
    plans_.begin_making_at(1);
    plans_.job().run_until_idle();
    plans_.begin_making_at(0);
    plans_.end_making();
    ASSERT_FALSE(plans_.plan(0).fault());
    plans_.use();
    EXPECT_EQ(into, Plans::Words(space, space));
  }
  plans_.clear();
  plans_.make();
  EXPECT_FALSE(plans_.plan(0).fault());
}

/// Rank 0 sends to rank 1 on its node. Who would sleep is said by the test.
class CollectiveOnANode : public ::testing::Test {
 protected:
  void lay_out(std::size_t count, bool gaps_here = false, bool gaps_there = false) {
    from_ = &plans_.words(count * (gaps_here ? 2 : 1));
    into_ = &plans_.words(count * (gaps_there ? 2 : 1));
    plans_.send(0, 1, Plans::buffer(*from_, gaps_here));
    plans_.receive(1, 0, Plans::buffer(*into_, gaps_there));
    plans_.make();
    for (int rank = 0; rank < 2; ++rank) plans_.job().doorbell(rank).sleeping.store(1);
    take_rings(0);
    take_rings(1);
  }
  bool sweep(int rank) { return plans_.job().process(rank).sweep(); }
  /// Of the rank, since the last call.
  std::uint32_t take_rings(int rank) {
    Doorbell& bell = plans_.job().doorbell(rank);
    bell.sleeping.store(1);  // whoever rings wakes it
    const std::uint32_t rings = bell.rings.load();
    return rings - std::exchange(seen_[static_cast<std::size_t>(rank)], rings);
  }

  Plans plans_{{0, 0}};
  Plans::Words* from_ = nullptr;
  Plans::Words* into_ = nullptr;
  std::array<std::uint32_t, 2> seen_{};
};

TEST_F(CollectiveOnANode, AShortMessageGoesAheadByTwo) {
  lay_out(2);
  for (std::uint64_t use = 1; use <= 2; ++use) {
    from_->assign(2, use);
    plans_.start(0);
    EXPECT_TRUE(plans_.completed(0));
    EXPECT_EQ(take_rings(1), 1u) << "its receiver may wait for it";
  }
  from_->assign(2, 3);
  plans_.start(0);
  EXPECT_FALSE(plans_.completed(0)) << "both cells are full";
  plans_.start(1);
  EXPECT_TRUE(plans_.completed(1));
  EXPECT_EQ((*into_)[0], 1u);
  EXPECT_EQ(take_rings(0), 1u) << "its sender may wait for the cell";
  sweep(0);
  EXPECT_TRUE(plans_.completed(0));
  for (std::uint64_t use = 2; use <= 3; ++use) {
    plans_.start(1);
    EXPECT_TRUE(plans_.completed(1));
    EXPECT_EQ((*into_)[0], use);
    EXPECT_EQ(take_rings(0), use == 2 ? 1u : 0u) << "nobody waits for an empty one's neighbour";
  }
}

/// Who only sends goes on for as many uses as there are cells, however late its receiver is.
TEST_F(CollectiveOnANode, AShortMessageThatGoesOneWayGoesAheadByMore) {
  const std::uint64_t ahead = limits_of_plans().ahead_uses;
  plans_.schedule(1).one_way = true;
  lay_out(2);
  for (std::uint64_t use = 1; use <= ahead + 1; ++use) {
    from_->assign(2, use);
    plans_.start(0);
    EXPECT_EQ(plans_.completed(0), use <= ahead) << use;
  }
  for (std::uint64_t use = 1; use <= ahead + 1; ++use) {
    plans_.start(1);
    EXPECT_TRUE(plans_.completed(1));
    EXPECT_EQ((*into_)[0], use);
    sweep(0);
    EXPECT_TRUE(plans_.completed(0));
  }
}

// A sleeper has to fence once more when it has filled a cell: its receiver looks at that one to see
// whether anybody sleeps. So a sweep that has moved a piece has moved something.
TEST_F(CollectiveOnANode, APieceThatIsMovedIsSomethingMoved) {
  lay_out(20, true, true);
  plans_.start(0);
  EXPECT_FALSE(plans_.completed(0));
  EXPECT_FALSE(sweep(0)) << "two pieces of four";
  plans_.start(1);
  EXPECT_FALSE(plans_.completed(1));
  EXPECT_FALSE(sweep(1));
  EXPECT_TRUE(sweep(0));
  EXPECT_TRUE(plans_.completed(0));
  EXPECT_TRUE(sweep(1));
  EXPECT_TRUE(plans_.completed(1));

  plans_.clear();
  plans_.free();
  lay_out(50, true, true);
  plans_.start(0);
  plans_.start(1);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_TRUE(sweep(0));
    EXPECT_FALSE(plans_.completed(0));
    EXPECT_FALSE(sweep(0));
    EXPECT_TRUE(sweep(1));
    EXPECT_FALSE(plans_.completed(1));
    EXPECT_FALSE(sweep(1));
  }
}

TEST_F(CollectiveOnANode, WhoComesSecondMovesALongMessage) {
  lay_out(40);
  for (const int second : {1, 0}) {
    from_->assign(40, 2 + static_cast<std::uint64_t>(second));
    plans_.start(1 - second);
    EXPECT_FALSE(plans_.completed(1 - second));
    EXPECT_FALSE(sweep(1 - second));
    plans_.start(second);
    EXPECT_TRUE(plans_.completed(second));
    EXPECT_EQ(into_->back(), 2 + static_cast<std::uint64_t>(second));
    EXPECT_EQ(take_rings(1 - second), 1u) << "it waits for the last piece";
    EXPECT_EQ(take_rings(second), 0u);
    sweep(1 - second);
    EXPECT_TRUE(plans_.completed(1 - second));
    EXPECT_EQ(plans_.job().transport(second).copies(), 3u) << "320 bytes in pieces of 128";
  }
}

TEST_F(CollectiveOnANode, WhoAloneCanMoveALongMessageIsWoken) {
  for (const int mover : {0, 1}) {
    plans_.clear();
    lay_out(40, mover == 0, mover == 1);
    const int other = 1 - mover;
    plans_.start(mover);
    plans_.start(other);
    EXPECT_FALSE(plans_.completed(other));
    EXPECT_EQ(take_rings(mover), 1u);
    EXPECT_EQ(take_rings(other), 0u);
    sweep(mover);
    EXPECT_TRUE(plans_.completed(mover));
    EXPECT_EQ(take_rings(other), 1u);
    sweep(other);
    EXPECT_TRUE(plans_.completed(other));
    plans_.start(other);
    EXPECT_EQ(take_rings(mover), 0u) << "it has not come yet";
    plans_.start(mover);
    EXPECT_TRUE(plans_.completed(mover));
    EXPECT_EQ(take_rings(other), 1u);
    sweep(other);
    plans_.free();
  }
}

// Where the buffers are mapped no system call is needed.
TEST_F(CollectiveOnANode, ALongMessageGoesByStoresWhereItsBuffersAreMapped) {
  plans_.job().network().share_buffers();
  lay_out(40);
  for (const int second : {1, 0}) {
    from_->assign(40, 2 + static_cast<std::uint64_t>(second));
    plans_.start(1 - second);
    plans_.start(second);
    EXPECT_EQ(*into_, *from_);
    sweep(1 - second);
  }
  EXPECT_EQ(plans_.job().transport(0).copies() + plans_.job().transport(1).copies(), 0u);
}

// More runs than go by one system call, of a piece of its own.
TEST(CollectiveRuns, AreMovedAllOfThem) {
  Limits limits = limits_of_plans();
  limits.shared_fragment = 1600;
  Plans plans({0, 0}, limits);
  for (const bool sender : {false, true}) {
    plans.clear();
    Plans::Words& from = plans.words(sender ? 500 : 250);
    Plans::Words& into = plans.words(sender ? 250 : 500);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = i + 1;
    plans.send(0, 1, Plans::buffer(from, sender));
    plans.receive(1, 0, Plans::buffer(into, !sender));
    plans.make();
    plans.use();
    for (std::size_t i = 0; i < 250; ++i) {
      ASSERT_EQ(into[sender ? i : 2 * i], from[sender ? 2 * i : i]) << i;
    }
    // Short ones are packed on the way: a call for each piece, not for each run.
    EXPECT_EQ(plans.job().transport(0).copies() + plans.job().transport(1).copies(),
              sender ? 4u : 2u);
  }
}

// Long runs, which are not packed.
TEST(CollectiveRuns, OfPagesAreMovedAllOfThem) {
  constexpr std::uint64_t run = 5000;
  constexpr std::uint64_t runs = 70;
  const LayoutRef layout(new Layout({{0, run}}, 2 * run, Basic::u8));
  for (const bool sender : {false, true}) {
    Plans plans({0, 0});
    Plans::Words& gappy = plans.words(2 * run * runs / 8);
    Plans::Words& dense = plans.words(run * runs / 8);
    for (std::size_t i = 0; i < gappy.size(); ++i) gappy[i] = sender ? i + 1 : 0;
    for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = sender ? 0 : i + 1;
    const Buffer scattered{gappy.data(), runs, layout};
    plans.send(0, 1, sender ? scattered : Plans::buffer(dense));
    plans.receive(1, 0, sender ? Plans::buffer(dense) : scattered);
    plans.make();
    plans.use();
    for (std::uint64_t i = 0; i < runs * run / 8; ++i) {
      const std::uint64_t word = i / (run / 8) * 2 * (run / 8) + i % (run / 8);
      ASSERT_EQ(gappy[word], dense[i]) << i;
    }
  }
}

// A piece that cannot be moved, because the other side has ended: both sides hear of it.
TEST_F(CollectiveOnANode, ALongMessageThatCannotBeMovedFails) {
  lay_out(40);
  plans_.job().transport(1).set_ended(0);
  plans_.start(0);
  plans_.start(1);
  ASSERT_TRUE(plans_.completed(1));
  EXPECT_EQ(plans_.error(1), Error::peer_lost);
  sweep(0);
  ASSERT_TRUE(plans_.completed(0));
  EXPECT_EQ(plans_.error(0), Error::system);
}

}  // namespace
}  // namespace oriel::test
