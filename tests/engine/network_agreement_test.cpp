// SPDX-License-Identifier: BSD-3-Clause
// B14: the network on which the ranks of a window over several nodes agree.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/windows/make_window.hpp"
#include "support/sim_ranks.hpp"
#include "transport/ofi/network.hpp"

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

/// Three ranks on nodes of their own.
class NetworkAgreement : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < all_.count(); ++rank) {
      all_[rank].networks.offers = {verbs, tcp_a};
    }
  }
  /// Makes a window on all ranks. Returns the reasons of those that have failed.
  std::vector<std::string> make() {
    std::vector<std::string> reasons(static_cast<std::size_t>(all_.count()));
    all_.run([&](int rank) {
      SimRank& own = all_[rank];
      own.comm.forget_peers();  // so that each window needs the same exchanges within nodes
      own.comm.take_counts();
      const auto draft = own.make_draft(own.comm);
      draft->begin(sizeof(std::uint64_t), 1);
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

TEST_F(NetworkAgreement, IsOnTheNextNetworkIfARankCannotOpenTheFirst) {
  all_[1].networks.refused = {verbs.network};
  EXPECT_EQ(make(), none());
  expect_choices({verbs.network, tcp_a.network});
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(all_[rank].networks.exposures, 0);
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
    transports.open_network(transports.offered_networks(error), tcp_a.network, 0, error);
  }
  EXPECT_EQ(make(), none());
  expect_choices({tcp_a.network});
}

TEST_F(NetworkAgreement, KeepsTheNetworkThatARankHasAlready) {
  std::string error;
  CompositeTransport& transports = all_[2].running().transports;
  {
    const Guard guard(all_[2].engine.lock);
    transports.open_network(transports.offered_networks(error), tcp_a.network, 0, error);
  }
  all_[0].networks.refused = {tcp_a.network};
  for (const std::string& reason : make()) {
    EXPECT_NE(reason.find("rank 0 (node0): network 11 is broken"), std::string::npos) << reason;
  }
  EXPECT_NE(transports.network(), nullptr);
}

TEST(NetworkNumbers, AreThoseOfTheRanksAmongTheRanksOfTheirNode) {
  SimRanks all({0, 1, 0, 0, 1}, 1);
  all.make_windows();
  const std::vector<int> expected{0, 0, 1, 2, 1};
  for (int rank = 0; rank < all.count(); ++rank) {
    EXPECT_EQ(all[rank].networks.numbers,
              std::vector<int>{expected[static_cast<std::size_t>(rank)]});
  }
}

}  // namespace
}  // namespace oriel::test
