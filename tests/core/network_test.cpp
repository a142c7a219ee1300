// SPDX-License-Identifier: BSD-3-Clause
// B4: the way to other nodes, between two processes' ends of it in one process.
#include "transport/ofi/network.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace oriel {
namespace {

constexpr std::array<std::byte, 4> sent_bytes{std::byte{1}, std::byte{2}, std::byte{3},
                                              std::byte{4}};

class TwoNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    ours_ = Network::open(error);
    theirs_ = Network::open(error);
    if (ours_ == nullptr || theirs_ == nullptr) GTEST_SKIP() << error;
    they_ = ours_->attach(theirs_->name(), error);
    ASSERT_GE(they_, 0) << error;
    ASSERT_GE(theirs_->attach(ours_->name(), error), 0) << error;
  }
  static void send(Network& network, int process) {
    network.send(process, sent_bytes, {});
    network.push();
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

  std::unique_ptr<Network> ours_, theirs_;
  int they_ = -1;  // their number with us
};

// It was through with everything, and has ended before the last packet to it, which only shows
// that those before it have left, was taken.
TEST_F(TwoNetworks, PacketsToAProcessThatHasEndedDoNotHoldUpOurs) {
  send(*ours_, they_);
  bool received = false;
  ASSERT_TRUE(soon([&] {
    ours_->receive();  // a connection takes both sides
    if (!theirs_->receive().empty()) received = true;
    return received && ours_->drained();
  }));
  theirs_.reset();
  send(*ours_, they_);
  EXPECT_TRUE(soon([&] {
    ours_->receive();
    return ours_->drained();
  }));
  EXPECT_TRUE(soon([&] { return !ours_->alive(they_); }));
}

}  // namespace
}  // namespace oriel
