// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong with plans (C1): all ranks hear of the same fault, nothing of a plan is left
// behind, and what no peer can mean changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/plans.hpp"

namespace oriel::test {
namespace {

using FaultKind = PlanFault::Kind;

class CollectiveFaultOn : public ::testing::TestWithParam<std::vector<int>> {
 protected:
  /// All ranks find this fault, whoever frees first, and the next plan is as good as ever.
  void expect_fault(const std::function<void(Plans&)>& lay_out, const PlanFault& fault,
                    int bad = -1) {
    for (const bool backwards : {false, true}) {
      Plans plans(GetParam());
      lay_out(plans);
      plans.make(bad);
      for (int rank = 0; rank < plans.ranks(); ++rank) {
        const PlanFault& found = plans.plan(rank).fault();
        EXPECT_EQ(found.kind, fault.kind) << "rank " << rank;
        EXPECT_EQ(found.sender, fault.sender) << "rank " << rank;
        EXPECT_EQ(found.receiver, fault.receiver) << "rank " << rank;
        EXPECT_EQ(found.sent, fault.sent) << "rank " << rank;
        EXPECT_EQ(found.space, fault.space) << "rank " << rank;
      }
      for (int i = 0; i < plans.ranks(); ++i) {
        plans.free(backwards ? plans.ranks() - 1 - i : i);
      }
      EXPECT_EQ(plans.boards(), 0u) << "a board is left behind";
      EXPECT_EQ(plans.job().network().registered(), 0u);
      plans.clear();
      const Plans::Passage passage = plans.pass(0, 1, 3);
      plans.make();
      EXPECT_FALSE(plans.plan(0).fault());
      passage.from->back() = 5;
      plans.use();
      EXPECT_EQ(passage.into->back(), 5u);
      plans.free();
      EXPECT_EQ(plans.refused(), 0u);
    }
  }
};

TEST_P(CollectiveFaultOn, MoreIsSentThanThereIsRoomFor) {
  for (const std::size_t space : {2u, 20u, 50u}) {
    expect_fault(
        [&](Plans& plans) {
          plans.pass(2, 0, 40);
          plans.send(0, 1, Plans::buffer(plans.words(space + 1)));
          plans.receive(1, 0, Plans::buffer(plans.words(space)));
          plans.pass(1, 2, 3);
        },
        {FaultKind::truncated, 0, 1, 8 * space + 8, 8 * space});
  }
}

TEST_P(CollectiveFaultOn, TypesDoNotMatch) {
  for (const std::size_t count : {1u, 30u}) {
    expect_fault(
        [&](Plans& plans) {
          plans.send(1, 0, Plans::buffer(plans.words(count), false, Basic::f64));
          plans.receive(0, 1, Plans::buffer(plans.words(count)));
          plans.pass(1, 2, 3);
        },
        {FaultKind::types, 1, 0, 8 * count, 8 * count});
  }
}

TEST_P(CollectiveFaultOn, ArgumentsOfOneRankAreWrong) {
  expect_fault([&](Plans& plans) { plans.pass(0, 1, 30), plans.pass(2, 0, 1); },
               {FaultKind::arguments, 1, 0, 7, 0}, 1);
}

// Of several faults, that of the lowest rank.
TEST_P(CollectiveFaultOn, TwoRanksFindAFault) {
  expect_fault(
      [&](Plans& plans) {
        for (const int sender : {2, 0}) {
          plans.send(sender, 1, Plans::buffer(plans.words(4)));
          plans.receive(1, sender, Plans::buffer(plans.words(2)));
        }
      },
      {FaultKind::truncated, 0, 1, 32, 16});
}

TEST_P(CollectiveFaultOn, SomethingIsSentThatNobodyExpects) {
  for (const bool another : {false, true}) {
    expect_fault(
        [&](Plans& plans) {
          if (another) plans.pass(0, 1, 1);
          plans.send(0, 1, Plans::buffer(plans.words(1)));
          plans.pass(1, 2, 3);
        },
        {FaultKind::truncated, 0, 1, 8, 0});
  }
}

TEST_P(CollectiveFaultOn, MoreIsExpectedThanIsSent) {
  for (const bool another : {false, true}) {
    for (const std::size_t count : {1u, 20u, 50u}) {
      expect_fault(
          [&](Plans& plans) {
            if (another) plans.pass(0, 1, 1);
            plans.receive(1, 0, Plans::buffer(plans.words(count)));
            plans.pass(1, 2, 3);
          },
          {FaultKind::unmatched, 0, 1, 0, 8 * count});
    }
  }
}

// Of no bytes both sides may say nothing, and who expects some may be sent none.
TEST_P(CollectiveFaultOn, NothingIsNoFault) {
  for (const std::size_t space : {0u, 1u, 20u, 50u}) {
    Plans plans(GetParam());
    Plans::Words& into = plans.words(space, 4);
    const Plans::Passage passage = plans.pass(0, 1, 2);
    plans.send(0, 1, Plans::buffer(plans.words(0)));
    if (space != 0) plans.receive(1, 0, Plans::buffer(into));
    plans.send(1, 2, Plans::buffer(plans.words(0)));
    plans.receive(2, 0, Plans::buffer(plans.words(0)));
    plans.make();
    EXPECT_EQ(plans.plan(0).fault().kind, FaultKind::none);
    for (std::uint64_t use = 1; use < 4; ++use) {
      passage.from->back() = use;
      plans.use();
      EXPECT_EQ(passage.into->back(), use);
    }
    EXPECT_EQ(into, Plans::Words(space, 4));
    plans.free();
    plans.job().run_until_idle();
    EXPECT_EQ(plans.boards(), 0u) << "not all have left it that it counts";
    EXPECT_EQ(plans.refused(), 0u);
  }
}

// Some are freed in use, and some with messages under way to plans that are gone already.
TEST_P(CollectiveFaultOn, NothingIsLeftOfAThousandPlans) {
  Plans plans(GetParam());
  std::size_t most = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    plans.clear();
    plans.pass(0, 1, turn % 3 == 0 ? 40u : 2u, turn % 5 == 0);
    plans.pass(1, 2, 14);
    plans.pass(2, 0, 100);
    plans.make();
    ASSERT_FALSE(plans.plan(0).fault());
    if (turn % 2 == 0) plans.use();
    if (turn % 7 == 0) plans.start(turn % 3);
    plans.free();
    most = std::max(most, plans.shared());
  }
  plans.job().run_until_idle();
  for (int rank = 0; rank < plans.ranks(); ++rank) {
    EXPECT_EQ(plans.space(rank).plans(), 0u);
    // It looks after what has been left behind when it makes the next.
    plans.schedule(rank) = {};
  }
  plans.make();
  plans.free();
  // In use, and kept for later ones.
  EXPECT_LE(most, 3u * (2u + 4u));
  EXPECT_EQ(plans.boards(), 0u);
  EXPECT_EQ(plans.job().network().registered(), 0u);
  EXPECT_EQ(plans.refused(), 0u);
}

// Its senders still look at it.
TEST_P(CollectiveFaultOn, ABoardStaysUntilAllHaveLeftIt) {
  Plans plans(GetParam());
  plans.pass(1, 0, 2);
  plans.pass(2, 0, 2);
  const bool mapped = GetParam()[0] == GetParam()[1] || GetParam()[0] == GetParam()[2];
  plans.make();
  plans.free(0);
  EXPECT_EQ(plans.boards(), mapped ? 1u : 0u);
  plans.free(1);
  plans.free(2);
  plans.clear();
  plans.make();
  EXPECT_EQ(plans.boards(), 0u);
}

// Who has nothing to look for there does not count.
TEST_P(CollectiveFaultOn, ABoardIsNotLeftByThoseItDoesNotCount) {
  Plans plans(GetParam());
  plans.pass(1, 0, 2);
  plans.send(2, 0, Plans::buffer(plans.words(0)));
  const bool mapped = GetParam()[0] == GetParam()[1];
  plans.make();
  plans.free(0);
  plans.free(2);
  EXPECT_EQ(plans.boards(), mapped ? 1u : 0u);
  plans.free(1);
  EXPECT_EQ(plans.boards(), 0u);
}

/// Then there are fewer cells. That there is none at all is a fault.
TEST_P(CollectiveFaultOn, ThereIsNoMemoryForAllCells) {
  const auto& nodes = GetParam();
  for (const int refused : {1, 2}) {
    Plans plans(nodes);
    const Plans::Passage passage = plans.pass(0, 1, 13);
    plans.job().transport(1).refuse_to_share(refused);
    plans.begin_making();
    if (refused == 2 && nodes[0] == nodes[1]) {
      for (int round = 0; round < 3; ++round) {
        for (int rank = 0; rank < 3; ++rank) plans.plan(rank).advance_making();
        plans.job().run_until_idle();
      }
      for (int rank = 0; rank < 3; ++rank) {
        ASSERT_TRUE(plans.plan(rank).advance_making());
        EXPECT_EQ(plans.plan(rank).fault().kind, FaultKind::memory);
      }
      continue;
    }
    plans.end_making();
    for (std::uint64_t use = 1; use <= 3; ++use) {
      std::ranges::fill(*passage.from, use);
      plans.use();
      EXPECT_EQ(*passage.into, *passage.from);
    }
  }
}

TEST_P(CollectiveFaultOn, AJobEndsWithPlansThatNobodyHasFreed) {
  Plans plans(GetParam());
  plans.pass(0, 1, 2);
  plans.pass(1, 0, 40);
  plans.pass(2, 0, 100);
  plans.make();
  plans.start(1);
  plans.start(0);
}

TEST_P(CollectiveFaultOn, APlanIsFreedInUse) {
  for (const std::size_t count : {2u, 15u, 40u}) {
    Plans plans(GetParam());
    plans.pass(0, 1, count);
    plans.pass(1, 0, count);
    plans.make();
    plans.start(1);
    EXPECT_TRUE(plans.plan(1).active());
    plans.free(1);
    EXPECT_EQ(plans.space(1).plans(), 0u);
    plans.job().run_until_idle();
    // Its messages to rank 1, and those that rank 1 has sent it.
    plans.start(0);
    plans.job().run_until_idle();
    plans.free(0);
    plans.free(2);
    plans.job().run_until_idle();
    EXPECT_FALSE(plans.completed(1)) << "nobody is told";
    EXPECT_EQ(plans.refused(), 0u);
    plans.clear();
    const Plans::Passage passage = plans.pass(0, 1, count);
    plans.make();
    passage.from->back() = 9;
    plans.use();
    EXPECT_EQ(passage.into->back(), 9u);
  }
}

TEST_P(CollectiveFaultOn, WhoWaitsAsksAfterThoseItWaitsFor) {
  for (const std::size_t count : {2u, 14u, 40u}) {
    for (const bool gaps : {false, true}) {
      Plans plans(GetParam());
      plans.pass(1, 0, count, gaps);
      plans.pass(0, 2, 40);
      plans.make();
      SimTransport& transport = plans.job().transport(0);
      EXPECT_EQ(plans.plan(0).lost_peer(), -1);
      EXPECT_EQ(transport.collect_asked(), (std::set<int>{})) << "it waits for nobody";
      plans.start(0);
      EXPECT_EQ(plans.plan(0).lost_peer(), -1);
      EXPECT_EQ(transport.collect_asked(), (std::set<int>{1, 2}));
      plans.start(1);
      plans.job().run_until_idle();
      EXPECT_EQ(plans.plan(0).lost_peer(), -1);
      EXPECT_EQ(transport.collect_asked(), (std::set<int>{2})) << "what rank 1 sends has arrived";
      transport.set_ended(1);
      EXPECT_EQ(plans.plan(0).lost_peer(), -1);
      transport.set_ended(2);
      EXPECT_EQ(plans.plan(0).lost_peer(), 2);
      plans.free(0);
      EXPECT_EQ(plans.space(0).plans(), 0u);
    }
  }
}

/// Where ranks hand on what others send, whoever waits for one of them waits for those as well.
TEST_P(CollectiveFaultOn, WhoMayWaitForAnyAsksAfterAll) {
  Plans plans(GetParam());
  plans.pass(1, 0, 2);
  plans.schedule(0).needs_all = true;
  plans.make();
  SimTransport& transport = plans.job().transport(0);
  transport.set_ended(2);
  EXPECT_EQ(plans.plan(0).lost_peer(), -1);
  plans.start(0);
  EXPECT_EQ(plans.plan(0).lost_peer(), 2);
  plans.start(1);
  plans.job().run_until_idle();
  ASSERT_TRUE(plans.completed(0));
  EXPECT_EQ(plans.plan(0).lost_peer(), -1);
}

INSTANTIATE_TEST_SUITE_P(Placements, CollectiveFaultOn,
                         ::testing::Values(std::vector<int>{0, 0, 0}, std::vector<int>{0, 1, 2},
                                           std::vector<int>{0, 0, 1}, std::vector<int>{0, 1, 0}),
                         placement_name);

/// Ranks of three nodes; rank 1 is the test.
class CollectiveMessages : public ::testing::Test {
 protected:
  CollectiveMessages() {
    plans_.receive(0, 1, Plans::buffer(short_));
    plans_.receive(0, 1, Plans::buffer(long_));
    plans_.send(1, 0, Plans::buffer(plans_.words(2)));
    plans_.send(1, 0, Plans::buffer(plans_.words(40)));
    plans_.make();
  }
  Message bytes(std::uint32_t element, std::uint64_t use, std::uint64_t first, bool last) {
    Message message = started(use);
    message.kind = MessageKind::plan_bytes;
    message.element = element;
    message.first = first;
    message.last = last ? 1 : 0;
    return message;
  }
  Message started(std::uint64_t use) {
    Message message;
    message.kind = MessageKind::plan_started;
    message.origin = 1;
    message.word = plans_.plan(0).number();
    message.stamp = use;
    return message;
  }
  bool deliver(Message message, std::size_t words, std::uint64_t value = 3) {
    const Plans::Words payload(words, value);
    message.data = static_cast<std::uint32_t>(8 * words);
    return plans_.job().window(0).deliver(message, std::as_bytes(std::span(payload)));
  }

  Plans plans_{{0, 1, 2}};
  Plans::Words short_ = Plans::Words(2);
  Plans::Words long_ = Plans::Words(40);
};

TEST_F(CollectiveMessages, ThatCannotBeAreRefused) {
  plans_.start(0);
  EXPECT_FALSE(deliver(bytes(2, 1, 0, true), 1)) << "no such receive";
  EXPECT_FALSE(deliver(bytes(0, 1, 0, true), 3)) << "more than there is room for";
  EXPECT_FALSE(deliver(bytes(0, 1, 8, true), 2));
  EXPECT_FALSE(deliver(bytes(0, 1, 17, true), 0));
  EXPECT_FALSE(deliver(bytes(0, 1, ~std::uint64_t{0}, true), 1));
  EXPECT_FALSE(deliver(bytes(0, 0, 0, true), 2)) << "of no use";
  EXPECT_FALSE(deliver(bytes(0, 2, 0, true), 2)) << "this one's have not come";
  EXPECT_FALSE(deliver(bytes(0, 3, 0, true), 2));
  EXPECT_FALSE(deliver(started(3), 0)) << "two ahead";
  Message message = bytes(0, 1, 0, true);
  message.origin = 2;
  EXPECT_FALSE(deliver(message, 2)) << "that rank sends nothing";
  message = started(1);
  message.origin = 2;
  EXPECT_FALSE(deliver(message, 0));
  message = bytes(0, 1, 0, true);
  message.word = plans_.plan(0).number() + 1;
  EXPECT_FALSE(deliver(message, 2)) << "a plan that nobody has made";
  message = started(1);
  message.kind = MessageKind::plan_space;
  EXPECT_FALSE(deliver(message, 0)) << "it has been made";
  message.word = plans_.plan(0).number() + 2;
  EXPECT_FALSE(deliver(message, 0)) << "the one before it has not been made";
  EXPECT_EQ(short_, Plans::Words(2));
  EXPECT_EQ(long_, Plans::Words(40));
  EXPECT_TRUE(deliver(bytes(0, 1, 0, true), 2));
  EXPECT_EQ(short_, Plans::Words(2, 3));
  EXPECT_FALSE(deliver(bytes(0, 1, 0, true), 2, 4)) << "twice";
  EXPECT_EQ(short_, Plans::Words(2, 3));
  EXPECT_TRUE(deliver(bytes(1, 1, 0, false), 30));
  EXPECT_FALSE(plans_.completed(0));
  EXPECT_TRUE(deliver(bytes(1, 1, 240, true), 10));
  plans_.job().process(0).sweep();
  EXPECT_TRUE(plans_.completed(0));
  EXPECT_EQ(long_, Plans::Words(40, 3));
}

TEST_F(CollectiveMessages, OneShortOneIsKeptForTheNextUse) {
  EXPECT_FALSE(deliver(bytes(0, 2, 0, true), 2)) << "two ahead";
  EXPECT_FALSE(deliver(bytes(1, 1, 0, false), 10)) << "a part of one";
  EXPECT_FALSE(deliver(bytes(1, 1, 80, true), 10));
  EXPECT_TRUE(deliver(bytes(0, 1, 0, true), 2));
  EXPECT_FALSE(deliver(bytes(0, 1, 0, true), 2, 4)) << "twice";
  EXPECT_EQ(short_, Plans::Words(2)) << "the use has not begun";
  plans_.start(0);
  EXPECT_EQ(short_, Plans::Words(2, 3));
  EXPECT_FALSE(plans_.completed(0));
  EXPECT_TRUE(deliver(bytes(0, 2, 0, true), 2, 5));
  EXPECT_EQ(short_, Plans::Words(2, 3));
}

TEST_F(CollectiveMessages, ForAPlanThatHasBeenFreedAreOfNoUse) {
  const Message late = bytes(0, 1, 0, true);
  const Message begun = started(1);
  plans_.free(0);
  EXPECT_TRUE(deliver(late, 2));
  EXPECT_TRUE(deliver(begun, 0));
}

/// Rank 0 writes directly into what rank 1 has lent.
struct WritesOn {
  const char* name;
  SimNetwork::Writes writes;
  bool immediate;
};

class CollectiveWrites : public ::testing::TestWithParam<WritesOn> {
 protected:
  static constexpr std::size_t words = 40;
  static constexpr std::uint64_t pieces = 3;

  CollectiveWrites() {
    plans_.job().network().set_writes(GetParam().writes);
    if (GetParam().immediate) {
      plans_.job().network().set_immediate_data(8, SimNetwork::ArrivalOrder::in_order);
    }
  }
  void lay_out() {
    passage_ = plans_.pass(0, 1, words);
    plans_.make();
  }
  void cut_writes() { plans_.job().network().set_longest_transfer(8 * words / pieces + 8); }
  void begin() {
    plans_.start(1);
    plans_.job().run_until_idle();
    plans_.start(0);
  }
  /// Each says what went wrong with whom.
  void expect_failed() {
    ASSERT_TRUE(plans_.completed(0) && plans_.completed(1));
    EXPECT_EQ(plans_.error(0), Error::system);
    EXPECT_EQ(plans_.plan(0).failure().rank, 1);
    EXPECT_TRUE(plans_.plan(0).failure().sent);
    EXPECT_EQ(plans_.error(1), Error::system) << "stale bytes are taken for what was sent";
    EXPECT_EQ(plans_.plan(1).failure().rank, 0);
    EXPECT_FALSE(plans_.plan(1).failure().sent);
  }
  /// Another use is as good as ever.
  void expect_well(std::uint64_t value) {
    std::ranges::fill(*passage_.from, value);
    plans_.use();
    EXPECT_EQ(*passage_.into, *passage_.from);
    EXPECT_EQ(plans_.plan(0).failure().error, Error::none);
    EXPECT_EQ(plans_.refused(), 0u);
  }

  Plans plans_{{0, 1}};
  Plans::Passage passage_{};
};

/// The message is sent when the write is finished.
class CollectiveWritesFirst : public CollectiveWrites {};
/// The message is immediate data of the write.
class CollectiveWritesTogether : public CollectiveWrites {};

TEST_P(CollectiveWritesFirst, ThatFailAreReportedAtBothSides) {
  lay_out();
  for (std::uint64_t use = 1; use < 4; ++use) {
    plans_.job().network().set_failing(true);
    begin();
    plans_.job().run_until_idle();
    expect_failed();
    plans_.job().network().set_failing(false);
    expect_well(use);
  }
}

// The number of the immediate data that has not come is that of no other message: nothing arrives
// any more, and the network has the peers lost to one another.
TEST_P(CollectiveWritesTogether, ThatFailWithTheirMessageAreNeverTakenForGood) {
  lay_out();
  plans_.job().network().set_failing(true);
  begin();
  plans_.job().run_until_idle();
  ASSERT_TRUE(plans_.completed(0));
  EXPECT_EQ(plans_.error(0), Error::system);
  EXPECT_FALSE(plans_.completed(1));
  plans_.job().transport(1).set_ended(0);
  EXPECT_EQ(plans_.plan(1).lost_peer(), 0);
}

TEST_P(CollectiveWrites, OfWhichOnePieceFailsAreReportedAtBothSides) {
  cut_writes();
  lay_out();
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    plans_.job().network().fail_one_after(piece);
    begin();
    plans_.job().run_until_idle();
    expect_failed();
    expect_well(piece + 1);
  }
}

// The send buffer may be used again then, and nothing more is written into the other one.
TEST_P(CollectiveWrites, ThatFailAreOverWithTheirLastPiece) {
  cut_writes();
  lay_out();
  SimNetwork& network = plans_.job().network();
  network.fail_one_after(0);
  begin();
  const SimNetwork::Route way{0, 1, !GetParam().writes.ordered};
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    EXPECT_FALSE(plans_.completed(0)) << piece;
    ASSERT_TRUE(network.deliver(way));
    plans_.job().process(0).sweep();
  }
  EXPECT_TRUE(plans_.completed(0));
  EXPECT_FALSE(plans_.completed(1));
  plans_.job().run_until_idle();
  expect_failed();
}

// While a piece is under way nobody knows whether it will fail.
TEST_P(CollectiveWrites, InPiecesCarryTheirMessageOnlyBehindWholeOnes) {
  cut_writes();
  lay_out();
  begin();
  plans_.job().run_until_idle();
  EXPECT_EQ(plans_.job().transport(0).named(), 0u);
  EXPECT_TRUE(plans_.completed(1));
  plans_.job().network().set_longest_transfer(~std::uint64_t{0});
  expect_well(3);
  EXPECT_EQ(plans_.job().transport(0).named() != 0, GetParam().immediate);
}

// The end of a write is told after its plan is gone, and another one's has begun.
TEST_P(CollectiveWrites, AreNobodysOnceTheirPlanIsFreed) {
  lay_out();
  begin();
  plans_.free(0);
  plans_.job().run_until_idle();
  plans_.free(1);
  for (int turn = 0; turn < 3; ++turn) {
    plans_.clear();
    const Plans::Passage passage = plans_.pass(0, 1, 40);
    plans_.make();
    passage.from->back() = 7;
    plans_.use();
    EXPECT_EQ(passage.into->back(), 7u);
    plans_.job().network().repeat_report(0);
    plans_.use();
    plans_.free();
  }
}

// Without it, a use would not be over before the next sweep found that it is.
TEST_P(CollectiveWrites, AreOverWhenTheirEndIsTold) {
  lay_out();
  const std::uint64_t before = plans_.job().transport(0).messages_sent();
  begin();
  EXPECT_FALSE(plans_.completed(0)) << "the write is under way";
  plans_.job().run_until_idle();
  EXPECT_TRUE(plans_.completed(0));
  EXPECT_TRUE(plans_.completed(1));
  EXPECT_EQ(plans_.job().transport(0).messages_sent() - before, 1u)
      << "one message behind the write";
  EXPECT_EQ(plans_.job().network().registrations_made(), 1u);
}

constexpr WritesOn in_order{"Ordered", SimNetwork::ordered_writes, false};
constexpr WritesOn overtaken{"Overtaken", SimNetwork::delivered_writes, false};
constexpr WritesOn with_immediate_data{"WithImmediateData", SimNetwork::card_writes, true};

std::string name_of(const ::testing::TestParamInfo<WritesOn>& on) {
  return on.param.name;
}

INSTANTIATE_TEST_SUITE_P(Orders, CollectiveWrites,
                         ::testing::Values(in_order, with_immediate_data, overtaken), name_of);
INSTANTIATE_TEST_SUITE_P(Orders, CollectiveWritesFirst, ::testing::Values(in_order, overtaken),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Orders, CollectiveWritesTogether, ::testing::Values(with_immediate_data),
                         name_of);

/// Two ranks of one node, and a message that goes by one copy.
class CollectiveCopies : public ::testing::Test {
 protected:
  CollectiveCopies() { plans_.make(); }

  Plans plans_{{0, 0}};
  Plans::Passage passage_ = plans_.pass(0, 1, 40);
};

TEST_F(CollectiveCopies, ThatFailAreReportedAtBothSidesAndForgotten) {
  for (std::uint64_t use = 1; use < 4; ++use) {
    for (const int rank : {0, 1}) plans_.job().transport(rank).set_refusing(true);
    for (const int rank : {0, 1}) plans_.start(rank);
    plans_.job().run_until_idle();
    for (const int rank : {0, 1}) {
      ASSERT_TRUE(plans_.completed(rank));
      EXPECT_EQ(plans_.error(rank), Error::system);
      EXPECT_EQ(plans_.plan(rank).failure().rank, 1 - rank);
      EXPECT_EQ(plans_.plan(rank).failure().sent, rank == 0);
      plans_.job().transport(rank).set_refusing(false);
    }
    std::ranges::fill(*passage_.from, use);
    plans_.use();
    EXPECT_EQ(*passage_.into, *passage_.from);
  }
}

// B2: whose memory is gone has ended.
TEST_F(CollectiveCopies, FindOutThatTheOtherSideHasEnded) {
  for (const int dead : {0, 1}) {
    plans_.clear();
    plans_.pass(0, 1, 40);
    plans_.make();
    const int other = 1 - dead;
    plans_.start(dead);
    plans_.job().transport(other).set_ended(dead);
    plans_.start(other);
    ASSERT_TRUE(plans_.completed(other));
    EXPECT_EQ(plans_.error(other), Error::peer_lost);
    EXPECT_EQ(plans_.plan(other).failure().rank, dead);
    plans_.job().transport(other).set_ended(-1);
    plans_.job().run_until_idle();
  }
}

/// Rank 0 sends to rank 1 of its node, which hands some of it on to rank 2: of that node or of
/// another one.
struct HandedOn {
  int node;
  std::size_t words;
};

struct HandingOn {
  explicit HandingOn(const HandedOn& handed)
      : plans({0, 0, handed.node}), from(plans.words(50)), into(plans.words(handed.words)) {
    Plans::Words& between = plans.words(50);
    Buffer part = Plans::buffer(between);
    part.count = into.size();
    plans.send(0, 1, Plans::buffer(from));
    plans.receive(1, 0, Plans::buffer(between));
    plans.send(1, 2, part, 1);
    plans.receive(2, 1, Plans::buffer(into));
    plans.make();
  }

  Plans plans;
  Plans::Words& from;
  Plans::Words& into;
};

class CollectiveHandedOn : public ::testing::TestWithParam<HandedOn> {};

TEST_P(CollectiveHandedOn, IsNotTakenForGoodWhereItHasNotCome) {
  HandingOn scene(GetParam());
  auto& [plans, from, into] = scene;
  for (std::uint64_t use = 1; use <= 4; ++use) {
    const bool fails = use == 2;
    from.assign(from.size(), use);
    for (const int rank : {0, 1}) {
      plans.job().transport(rank).set_refusing(fails);
      plans.start(rank);
    }
    plans.job().run_until_idle();
    // What goes from rank 1 to rank 2 would not fail by itself.
    for (const int rank : {0, 1}) plans.job().transport(rank).set_refusing(false);
    plans.start(2);
    plans.job().run_until_idle();
    for (int rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(plans.completed(rank)) << "rank " << rank << ", use " << use;
      EXPECT_EQ(plans.error(rank) != Error::none, fails) << "rank " << rank << ", use " << use;
    }
    if (!fails) {
      EXPECT_EQ(into, Plans::Words(into.size(), use));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Links, CollectiveHandedOn,
                         ::testing::Values(HandedOn{0, 2}, HandedOn{0, 30}, HandedOn{1, 2},
                                           HandedOn{1, 30}, HandedOn{1, 50}),
                         [](const auto& handed) {
                           return std::string(handed.param.node == 0 ? "OnANode" : "BetweenNodes") +
                                  std::to_string(handed.param.words);
                         });

/// The next use is no good either, and that is said before rank 2 has asked for the first one.
TEST(CollectiveLate, StaleBytesOfTheUseBeforeFailIt) {
  HandingOn scene({0, 50});
  Plans& plans = scene.plans;
  plans.start(2);
  for (const int rank : {0, 1}) plans.job().transport(rank).set_refusing(true);
  for (int use = 1; use < 3; ++use) {
    for (const int rank : {1, 0}) plans.start(rank);
    for (int sweeps = 0; sweeps < 4; ++sweeps) {
      for (const int rank : {0, 1}) plans.job().process(rank).sweep();
    }
    ASSERT_TRUE(plans.completed(0));
    ASSERT_EQ(plans.completed(1), use == 1);
  }
  plans.job().run_until_idle();
  ASSERT_TRUE(plans.completed(2));
  EXPECT_EQ(plans.error(2), Error::system);
}

/// A message that comes a use early, and says that it is not good.
TEST(CollectiveEarly, StaleBytesFailTheirUse) {
  HandingOn scene({1, 2});
  Plans& plans = scene.plans;
  for (const int rank : {0, 1}) {
    plans.job().transport(rank).set_refusing(true);
    plans.start(rank);
  }
  plans.job().run_until_idle();
  ASSERT_TRUE(plans.completed(1));
  plans.start(2);
  plans.job().run_until_idle();
  ASSERT_TRUE(plans.completed(2));
  EXPECT_NE(plans.error(2), Error::none);
}

}  // namespace
}  // namespace oriel::test
