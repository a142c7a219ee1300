// SPDX-License-Identifier: BSD-3-Clause
// B14: the network on which the ranks of a window over several nodes agree.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/windows/make_window.hpp"
#include "engine/windows/paths.hpp"
#include "support/sim_ranks.hpp"
#include "transport/ofi/networks.hpp"

namespace oriel::test {
namespace {

// Two fabrics of one provider, and another provider.
constexpr OfferedNetwork tcp_a{11, 1};
constexpr OfferedNetwork tcp_b{12, 1};
constexpr OfferedNetwork verbs{21, 2};

OfferedNetworks offer(const std::vector<OfferedNetwork>& networks) {
  OfferedNetworks offered;
  for (const OfferedNetwork& network : networks) offered.add(network, "a network");
  return offered;
}

std::uint64_t common(const std::vector<std::vector<OfferedNetwork>>& by_rank,
                     const std::vector<std::uint64_t>& refused = {}) {
  std::vector<OfferedNetworks> offered;
  for (const auto& networks : by_rank) offered.push_back(offer(networks));
  return common_network(offered, refused);
}

TEST(CommonNetwork, IsTheFirstOneOfRankZeroThatAllOffer) {
  EXPECT_EQ(common({{verbs, tcp_a}, {tcp_a, verbs}}), verbs.network);
  EXPECT_EQ(common({{verbs, tcp_a}, {tcp_b, tcp_a}, {tcp_a, verbs}}), tcp_a.network);
}

TEST(CommonNetwork, IsOfAProviderIfNoFabricIsCommon) {
  EXPECT_EQ(common({{verbs, tcp_a}, {tcp_b}}), tcp_a.provider);
  EXPECT_EQ(common({{verbs}, {tcp_b}}), 0u);
}

TEST(CommonNetwork, IsNoneThatHasBeenRefused) {
  EXPECT_EQ(common({{verbs, tcp_a}, {verbs, tcp_a}}, {verbs.network}), tcp_a.network);
  EXPECT_EQ(common({{verbs}, {verbs}}, {verbs.network, verbs.provider}), 0u);
}

TEST(CommonNetwork, DoesNotDependOnRanksWithoutAny) {
  EXPECT_EQ(common({{}, {verbs, tcp_a}, {}, {tcp_a}}), tcp_a.network);
  EXPECT_EQ(common({{}, {}}), 0u);
}

// As a bridge for containers, which has the same address on each node.
TEST(CommonNetwork, IsNoneInWhichTwoNodesHaveOneAddress) {
  constexpr OfferedNetwork bridge{31, 1, 172};
  const auto offer_of = [&](std::uint64_t node, std::uint64_t address) {
    OfferedNetworks offered = offer({bridge, {11, 1, address}});
    offered.node = {1, node};
    return offered;
  };
  const std::vector<std::uint64_t> none;
  EXPECT_EQ(common_network(std::vector{offer_of(5, 10), offer_of(6, 11)}, none), 11u);
  // Two ranks of one node have one address. Simulated nodes of one machine have, too.
  EXPECT_EQ(common_network(std::vector{offer_of(5, 10), offer_of(5, 10)}, none), 31u);
  EXPECT_EQ(common_network(std::vector{offer_of(5, 10), offer_of(6, 10)}, none), 0u);
}

TEST(OfferedNetworks, EndTheirNamesByDotsIfNotAllHaveRoom) {
  OfferedNetworks offered;
  for (std::uint64_t i = 1; i <= 5; ++i) offered.add({i, i}, std::string(30, 'n'));
  EXPECT_TRUE(std::string(offered.names.data()).ends_with("nnn, ..."));
  EXPECT_EQ(std::string(offered.names.data()).find("..."), 3 * 32 - 2 + 2);
}

/// Three ranks on nodes of their own.
class NetworkAgreement : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < all_.count(); ++rank) {
      all_[rank].networks.offers = {verbs, tcp_a};
    }
  }
  /// Makes a window on all ranks. Returns the reasons of those that have failed. `begun`: called on
  /// each rank when its draft has begun.
  std::vector<std::string> make(const std::function<void(int)>& begun = [](int) {}) {
    std::vector<std::string> reasons(static_cast<std::size_t>(all_.count()));
    all_.run([&](int rank) {
      SimRank& own = all_[rank];
      own.comm.forget_peers();  // so that each window needs the same exchanges within nodes
      own.comm.take_counts();
      const auto draft = own.make_draft(own.comm);
      draft->begin(sizeof(std::uint64_t), 1);
      begun(rank);
      EXPECT_EQ(make_window(*draft), 0);
      reasons[static_cast<std::size_t>(rank)] = draft->reason;
      gathers_[static_cast<std::size_t>(rank)] = own.comm.take_counts().gathers;
      if (draft->window == nullptr) return;
      const Guard guard(own.engine.lock);
      own.running().process.destroy_window(*draft->window);
    });
    // All ranks call the same collectives, whatever fails.
    for (const int gathers : gathers_) EXPECT_EQ(gathers, gathers_.front());
    return reasons;
  }
  void expect_choices(const std::vector<std::uint64_t>& choices) {
    for (int rank = 0; rank < all_.count(); ++rank) {
      EXPECT_EQ(all_[rank].networks.chosen, choices) << rank;
    }
  }
  static std::vector<std::string> none() { return std::vector<std::string>(3); }

  SimRanks all_{{0, 1, 2}, 1};
  std::vector<int> gathers_ = std::vector<int>(3);
};

TEST_F(NetworkAgreement, IsExchangedOnce) {
  EXPECT_EQ(make(), none());
  const int first = gathers_.front();
  expect_choices({verbs.network});
  EXPECT_EQ(make(), none());
  EXPECT_EQ(gathers_.front(), first - 1);
  expect_choices({verbs.network});
}

// Later windows send what they expose, and no names of processes.
TEST(KnownRanks, AnnounceOnlyTheirMemory) {
  constexpr std::size_t most = 64;  // bytes
  SimRanks all({0, 1, 1}, 1);
  const auto gathered = [&](bool intrinsic) {
    std::vector<std::size_t> bytes(3);
    const std::vector<Window*> windows =
        all.make_windows([intrinsic](WindowDraft& draft) { draft.terms.intrinsic = intrinsic; });
    for (int rank = 0; rank < 3; ++rank) {
      bytes[static_cast<std::size_t>(rank)] = all[rank].comm.take_counts().gathered;
      for (int other = 0; other < 3; ++other) {
        Window& window = *windows[static_cast<std::size_t>(rank)];
        const Member& member = window.member(other);
        EXPECT_GE(member.process, 0);
        if (member.mapped()) continue;
        EXPECT_TRUE(member.direct);
        EXPECT_NE(member.memory.address, 0u);
      }
    }
    EXPECT_EQ(bytes, std::vector<std::size_t>(3, bytes[0]));
    return bytes[0];
  };
  EXPECT_GT(gathered(false), most);
  EXPECT_LE(gathered(false), most);
  EXPECT_GT(gathered(true), most) << "the network's atomics have names of their own";
  all[2].comm.forget_peers();
  EXPECT_GT(gathered(false), most);
}

// Its ranks have met by shared memory alone.
TEST(KnownRanks, AnnounceTheirNamesWhenTheirNodeIsDivided) {
  SimRanks all({0, 1, 1}, 1);
  all.make_windows();
  all[1].comm.hide(2);
  // Memory behind the first extent is mapped anew.
  all.make_windows({}, 2 * SimRank::extent);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_GE(all[rank].comm.take_counts().gathered, sizeof(NetworkName)) << rank;
  }
}

TEST_F(NetworkAgreement, IsOnTheNextNetworkIfARankCannotOpenTheFirst) {
  all_[1].networks.refused = {verbs.network};
  EXPECT_EQ(make(), none());
  expect_choices({verbs.network, tcp_a.network});
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(all_[rank].networks.exposures, 0);
}

// `oriel info` says it of the network that jobs open, also before a window has opened one.
TEST_F(NetworkAgreement, NamesTheNetworksThatWereRefused) {
  for (int rank = 0; rank < 3; ++rank) all_[rank].networks.refused = {verbs.network};
  EXPECT_EQ(describe_network(all_[1].running()),
            "simulated. Not opened: network " + std::to_string(verbs.network) + " is broken");
  EXPECT_EQ(make(), none());
  const std::string text = describe_network(all_[1].running());
  EXPECT_TRUE(text.starts_with("simulated. Not opened: rank 0 (")) << text;
}

TEST_F(NetworkAgreement, DecidesHowPutsAndGetsTravel) {
  for (const bool refused : {true, false}) {
    for (int rank = 0; rank < 3; ++rank) {
      SimNetworks& networks = all_[rank].networks;
      networks.of_cards = {verbs.network};
      networks.refused = refused && rank == 1 ? std::set{verbs.network} : std::set<std::uint64_t>{};
    }
    EXPECT_EQ(make(), none());
    for (int rank = 0; rank < 3; ++rank) {
      SimRank& own = all_[rank];
      const Limits& limits = own.running().process.remote().limits;
      EXPECT_EQ(limits.direct_from, refused ? Limits().direct_from : 1) << rank;
      EXPECT_EQ(limits.direct_run < Limits().direct_run, !refused) << rank;
      const Guard guard(own.engine.lock);
      own.running().transports.close_network();
    }
  }
}

TEST_F(NetworkAgreement, FailsWithTheReasonsOfAllRefusals) {
  all_[1].networks.refused = {verbs.network};
  all_[2].networks.refused = {tcp_a.network};
  const std::vector<std::string> reasons = make();
  for (int rank = 0; rank < 3; ++rank) {
    const std::string& reason = reasons[static_cast<std::size_t>(rank)];
    EXPECT_NE(reason.find("rank 1 (node1): network 21 is broken. rank 2 (node2): network 11 is "
                          "broken; or set ORIEL_DISABLE=1"),
              std::string::npos)
        << reason;
    EXPECT_EQ(all_[rank].running().transports.network(), nullptr) << "it can be tried again";
  }
}

TEST_F(NetworkAgreement, NamesTheNetworksOfRanksThatHaveNoneInCommon) {
  all_[2].networks.offers = {{31, 3}};
  for (const std::string& reason : make()) {
    EXPECT_NE(reason.find("rank 0 (node0) has sim 21, sim 11; rank 2 (node2) has sim 31. "
                          "ORIEL_OFI_PROVIDER"),
              std::string::npos)
        << reason;
  }
  expect_choices({});
}

// A rank that has a network already offers no other one.
TEST_F(NetworkAgreement, IsOnTheNetworkThatARankHasAlready) {
  std::string error;
  CompositeTransport& transports = all_[2].running().transports;
  {
    const Guard guard(all_[2].engine.lock);
    transports.open_network(transports.offered_networks(error), tcp_a.network, {}, error);
  }
  EXPECT_EQ(make(), none());
  expect_choices({tcp_a.network});
}

// Another thread of a rank makes a window, and has opened the network for it.
TEST_F(NetworkAgreement, KeepsTheNetworkOfAnotherThread) {
  all_[1].networks.refused = {verbs.network, tcp_a.network};
  make([&](int rank) {
    if (rank != 2) return;
    std::string error;
    CompositeTransport& transports = all_[2].running().transports;
    const Guard guard(all_[2].engine.lock);
    transports.open_network(transports.offered_networks(error), verbs.network, {}, error);
  });
  EXPECT_EQ(all_[0].running().transports.network(), nullptr);
  EXPECT_NE(all_[2].running().transports.network(), nullptr);
}

/// Another thread of the rank opens a network while the ranks exchange their lists.
class OpensMeanwhile final : public SimComm {
 public:
  OpensMeanwhile(SimGroup& group, SimRank& rank, int number)
      : SimComm(group, number, rank.engine), rank_(rank) {}

  HostCode allgather(const void* own, std::size_t bytes, void* all) override {
    const HostCode code = SimComm::allgather(own, bytes, all);
    if (bytes == sizeof(OfferedNetworks) && rank() == 1) {
      std::string error;
      CompositeTransport& transports = rank_.running().transports;
      const Guard guard(rank_.engine.lock);
      transports.open_network(transports.offered_networks(error), tcp_a.network, {}, error);
    }
    return code;
  }

 private:
  SimRank& rank_;
};

class OpenedMeanwhile : public NetworkAgreement {
 protected:
  /// Makes a window, while another thread of rank 1 opens a network. `check`: called on each rank
  /// with its draft.
  template <typename Check>
  void make_and_check(Check&& check) {
    SimGroup group(all_.count());
    all_.run([&](int rank) {
      SimRank& own = all_[rank];
      OpensMeanwhile comm(group, own, rank);
      const auto draft = own.make_draft(comm);
      draft->begin(sizeof(std::uint64_t), 1);
      EXPECT_EQ(make_window(*draft), 0);
      check(own, *draft);
    });
  }
};

TEST_F(OpenedMeanwhile, TheNetworkIsThatOfTheOtherThread) {
  make_and_check([](SimRank& own, WindowDraft& draft) {
    EXPECT_EQ(draft.reason, "");
    ASSERT_NE(draft.window, nullptr);
    const Guard guard(own.engine.lock);
    own.running().process.destroy_window(*draft.window);
  });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(all_[rank].networks.chosen.back(), tcp_a.network) << rank;
  }
}

TEST_F(OpenedMeanwhile, ItIsAFailureIfAnotherRankCannotOpenIt) {
  all_[0].networks.refused = {tcp_a.network};
  make_and_check([](SimRank&, const WindowDraft& draft) {
    EXPECT_NE(draft.reason.find("rank 1 (node1): another thread has opened sim for a window of "
                                "its own. rank 0 (node0): network 11 is broken"),
              std::string::npos)
        << draft.reason;
  });
}

TEST_F(NetworkAgreement, KeepsTheNetworkThatARankHasAlready) {
  std::string error;
  CompositeTransport& transports = all_[2].running().transports;
  {
    const Guard guard(all_[2].engine.lock);
    transports.open_network(transports.offered_networks(error), tcp_a.network, {}, error);
  }
  all_[0].networks.refused = {tcp_a.network};
  for (const std::string& reason : make()) {
    EXPECT_NE(reason.find("rank 0 (node0): network 11 is broken"), std::string::npos) << reason;
  }
  EXPECT_NE(transports.network(), nullptr);
}

// Ranks of two nodes, placed on their two NUMA nodes by turns.
TEST(PositionOfRank, IsItsNumberAmongTheRanksOfItsNumaNodeAndOfItsNode) {
  SimRanks all({0, 0, 1, 0, 0, 1}, 1);
  all.run([&](int rank) {
    const auto draft = all[rank].make_draft(all[rank].comm);
    draft->begin(sizeof(std::uint64_t), 1);
    draft->mine.numa_node = rank % 2;
    EXPECT_EQ(make_window(*draft), 0);
    const Guard guard(all[rank].engine.lock);
    all[rank].running().process.destroy_window(*draft->window);
  });
  const std::vector<RankPosition> expected{{0, 0, 0}, {1, 0, 1}, {0, 0, 0},
                                           {1, 1, 2}, {0, 1, 3}, {1, 0, 1}};
  for (int rank = 0; rank < all.count(); ++rank) {
    EXPECT_EQ(all[rank].networks.positions, std::vector{expected[static_cast<std::size_t>(rank)]})
        << rank;
  }
}

}  // namespace
}  // namespace oriel::test
