// SPDX-License-Identifier: BSD-3-Clause
// B4: the way to other nodes, between several processes' ends of it in one process.
#include "transport/ofi/network.hpp"
#include "transport/ofi/ofi_networks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace oriel {
namespace {

constexpr std::array<std::byte, 4> few_bytes{};

std::unique_ptr<Network> open_any(std::string& error) {
  OfiNetworks networks;
  const OfferedNetworks offered = networks.offered(error);
  if (offered.none()) return nullptr;
  return networks.open_network(offered.networks.front().network, RankPosition(), error);
}

/// Ours, and two others that have had a message of ours.
class ThreeNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    ours_ = open_any(error);
    if (ours_ == nullptr) GTEST_SKIP() << error;
    for (int i = 0; i < 2; ++i) {
      theirs_.push_back(open_any(error));
      ASSERT_NE(theirs_.back(), nullptr) << error;
      they_.push_back(ours_->attach(theirs_.back()->name(), error));
      ASSERT_GE(they_.back(), 0) << error;
      ASSERT_GE(theirs_.back()->attach(ours_->name(), error), 0) << error;
      send_to(they_.back());
      bool received = false;
      ASSERT_TRUE(soon([&] {
        ours_->receive();  // a connection takes both sides
        if (!theirs_.back()->receive().empty()) received = true;
        return received && ours_->drained();
      }));
    }
  }
  void send_to(int process) {
    ours_->send(process, few_bytes, {});
    ours_->push();
  }
  template <typename Done>
  static testing::AssertionResult soon(Done&& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() > until) return testing::AssertionFailure();
      ::usleep(100);
    }
    return testing::AssertionSuccess();
  }

  std::unique_ptr<Network> ours_;
  std::vector<std::unique_ptr<Network>> theirs_;
  std::vector<int> they_;  // their numbers with us
};

// They were through with everything, and have ended before the last packets to them were taken.
TEST_F(ThreeNetworks, PacketsToProcessesThatHaveEndedDoNotHoldUpOurs) {
  theirs_.clear();
  for (int i = 0; i < 100; ++i) {  // until the provider has seen that the connections are closed
    ours_->receive();
    ::usleep(1000);
  }
  for (const int process : they_) {
    for (int i = 0; i < 2; ++i) send_to(process);
  }
  EXPECT_TRUE(soon([&] {
    ours_->receive();
    return ours_->drained();
  }));
  for (const int process : they_) send_to(process);
  EXPECT_TRUE(ours_->drained()) << "nothing more is sent to them";
  for (const int process : they_) {
    EXPECT_TRUE(soon([&] { return !ours_->alive(process); }));
  }
}

// It is collected, to travel with more.
TEST_F(ThreeNetworks, WhatHasNotBeenPushedHasNotLeft) {
  ours_->send(they_.front(), few_bytes, {});
  EXPECT_FALSE(ours_->drained());
  ours_->push();
  EXPECT_TRUE(soon([&] {
    ours_->receive();
    theirs_.front()->receive();
    return ours_->drained();
  }));
}

TEST_F(ThreeNetworks, SendsToOneProcessAreFinishedWithoutThoseToOthers) {
  ours_->send(they_.front(), few_bytes, {});
  EXPECT_FALSE(ours_->drained(they_.front()));
  EXPECT_TRUE(soon([&] {
    ours_->receive();
    return ours_->drained(they_.back());
  }));
  EXPECT_FALSE(ours_->drained());
}

// Later windows send the ids of known processes alone.
TEST_F(ThreeNetworks, ANameWithoutAddressChangesNothing) {
  NetworkName short_name;
  short_name.endpoint.id = theirs_[0]->name().endpoint.id;
  std::string error;
  EXPECT_EQ(ours_->attach(short_name, error), they_[0]);
  send_to(they_[0]);
  EXPECT_TRUE(soon([&] { return ours_->receive(), !theirs_[0]->receive().empty(); }));
  theirs_[0].reset();
  EXPECT_TRUE(soon([&] { return !ours_->alive(they_[0]); }));
}

// Until the process looks, no connection is made, and no packet taken.
TEST_F(ThreeNetworks, AProcessThatDoesNotLookIsNotTakenForEnded) {
  std::string error;
  const std::unique_ptr<Network> silent = open_any(error);
  ASSERT_NE(silent, nullptr) << error;
  ASSERT_GE(silent->attach(ours_->name(), error), 0) << error;
  const int process = ours_->attach(silent->name(), error);
  const auto before = ours_->delayed();
  for (int i = 0; i < 2; ++i) send_to(process);
  EXPECT_GE(ours_->delayed(), before + 2);
  // Longer than from one look at those that take nothing to the next.
  for (int i = 0; i < 300; ++i) {
    ours_->receive();
    ours_->drained();
    ::usleep(1000);
  }
  int received = 0;
  EXPECT_TRUE(soon([&] {
    ours_->receive();
    if (!silent->receive().empty()) ++received;
    return received == 2 && ours_->drained();
  })) << received;
}

}  // namespace
}  // namespace oriel
