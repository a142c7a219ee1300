// SPDX-License-Identifier: BSD-3-Clause
// Packets whose sends and receives a provider refuses or fails.
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ofi/fake_endpoint.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/packet_receiver.hpp"
#include "transport/ofi/packet_sender.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"

namespace oriel::ofi_test {
namespace {

constexpr std::uint64_t our_id = 0;  // FakeEndpoint's own
constexpr std::uint64_t peer_id = 7;

/// A process with one peer, whose endpoint has our id: packets of ours are packets of the peer.
class Packets : public ::testing::Test {
 protected:
  Packets() {
    for (const std::uint64_t id : {peer_id, our_id}) {
      auto added = std::make_unique<NetworkPeer>();
      added->name = endpoint_.attach(id);
      added->number = static_cast<int>(peers_.size());
      peers_.push_back(std::move(added));
    }
  }

  NetworkPeer& peer() { return *peers_[0]; }
  void send(std::uint64_t word) {
    sender_.send(peer(), std::as_bytes(std::span(&word, 1)), {});
    sender_.push();
  }
  /// The provider puts a packet into the first posted buffer and reports it.
  void arrive(std::span<const std::byte> packet) {
    ASSERT_FALSE(endpoint_.posted.empty());
    const FakeEndpoint::Posted posted = endpoint_.posted.front();
    endpoint_.posted.pop_front();
    std::ranges::copy(packet, posted.memory);
    receiver_.unposted();
    posted.buffer->bytes = packet.size();
    receiver_.arrived({posted.buffer});
  }
  /// The words of all messages that can be taken out now.
  std::vector<std::uint64_t> received() {
    std::vector<std::uint64_t> words;
    for (auto message = receiver_.next_message(); !message.empty();
         message = receiver_.next_message()) {
      std::uint64_t word = 0;
      std::memcpy(&word, message.data(), sizeof word);
      words.push_back(word);
    }
    return words;
  }
  static std::uint32_t number_of(const FakeEndpoint::Sent& sent) {
    return PacketReader(sent.bytes).sequence();
  }

  FakeEndpoint endpoint_;
  NetworkPeers peers_;
  ImmediateFormat immediate_;
  PacketBuffers buffers_{endpoint_};
  PacketReceiver receiver_{endpoint_, buffers_, peers_, immediate_};
  PacketSender sender_{endpoint_, buffers_, peers_, receiver_, immediate_};
};

TEST_F(Packets, ShortageOfASendIsWaitedFor) {
  endpoint_.send_codes.assign(1000, -FI_ENOMEM);
  send(1);
  send(2);
  for (int i = 0; i < 2000; ++i) sender_.push_backlogs();
  EXPECT_FALSE(peer().lost);
  ASSERT_EQ(endpoint_.sent.size(), 2u);
  EXPECT_EQ(number_of(endpoint_.sent[0]), 1u);
  EXPECT_EQ(number_of(endpoint_.sent[1]), 2u);
}

TEST_F(Packets, FailedSendIsRepeatedAndKeepsItsNumber) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  for (const std::uint64_t word : {11, 12, 13}) send(word);
  ASSERT_EQ(endpoint_.sent.size(), 3u);
  sender_.sent(*endpoint_.sent[0].buffer, FI_ENOMEM);
  sender_.push_backlogs();
  EXPECT_FALSE(peer().lost);
  ASSERT_EQ(endpoint_.sent.size(), 4u);
  for (const std::size_t i : {1, 2, 3}) arrive(endpoint_.sent[i].bytes);
  EXPECT_EQ(received(), (std::vector<std::uint64_t>{11, 12, 13}));
  for (const std::size_t i : {1, 2, 3}) sender_.sent(*endpoint_.sent[i].buffer, 0);
  EXPECT_FALSE(PacketSender::congested(peer()));
}

TEST_F(Packets, SendsBehindAFailedOneWaitForIt) {
  send(1);
  endpoint_.send_codes = {-FI_EAGAIN};
  sender_.sent(*endpoint_.sent[0].buffer, FI_EIO);
  send(2);
  EXPECT_EQ(endpoint_.sent.size(), 1u);
  EXPECT_TRUE(PacketSender::congested(peer()));
  sender_.push_backlogs();
  sender_.push_backlogs();
  ASSERT_EQ(endpoint_.sent.size(), 3u);
  EXPECT_EQ(number_of(endpoint_.sent[1]), 1u);
  EXPECT_EQ(number_of(endpoint_.sent[2]), 2u);
}

TEST_F(Packets, PacketThatIsRefusedForGoodLosesThePeerWithAReason) {
  endpoint_.send_codes.assign(1000, -FI_EIO);
  send(1);
  for (int i = 0; i < 1000 && !peer().lost; ++i) sender_.push_backlogs();
  EXPECT_TRUE(peer().lost);
  EXPECT_EQ(peer().loss, "libfabric's provider fake refused to send it a packet: " +
                             std::string(std::strerror(FI_EIO)));
  EXPECT_GT(endpoint_.send_codes.size(), 900u) << "the attempts are few";
}

TEST_F(Packets, PeerThatHasEndedIsLostWithoutAReason) {
  send(1);
  sender_.sent(*endpoint_.sent[0].buffer, FI_ECANCELED);
  EXPECT_TRUE(peer().lost);
  EXPECT_EQ(peer().loss, "");
}

TEST_F(Packets, RefusedMemoryIsTheReasonOfALoss) {
  endpoint_.require_local_registration();
  endpoint_.register_codes = {-FI_ENOMEM};
  send(1);
  EXPECT_TRUE(peer().lost);
  EXPECT_NE(peer().loss.find("bytes of packet buffers"), std::string::npos) << peer().loss;
  EXPECT_NE(peer().loss.find("ulimit -l"), std::string::npos) << peer().loss;
}

TEST_F(Packets, ReceivesThatAreRefusedForNowArePostedLater) {
  std::string error;
  endpoint_.receive_codes.assign(100, -FI_ENOMEM);
  ASSERT_TRUE(receiver_.post_buffers(error)) << error;
  for (int i = 0; i < 200; ++i) receiver_.post_again();
  EXPECT_EQ(endpoint_.posted.size(), 16u);
  EXPECT_FALSE(peer().lost);
}

TEST_F(Packets, RefusedReceiveOfManyIsNoLoss) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  send(1);
  endpoint_.receive_codes = {-FI_EIO, -FI_EIO};
  arrive(endpoint_.sent[0].bytes);
  EXPECT_EQ(received().size(), 1u);
  receiver_.post_again();
  receiver_.post_again();
  EXPECT_EQ(endpoint_.posted.size(), 16u);
  EXPECT_FALSE(peer().lost);
}

TEST_F(Packets, EndpointThatReceivesNothingAnyMoreLosesAllWithAReason) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  endpoint_.receive_codes.assign(100, -FI_EIO);
  for (int i = 0; i < 16; ++i) {
    send(1);
    arrive(endpoint_.sent.back().bytes);
    received();
  }
  EXPECT_TRUE(peer().lost);
  EXPECT_NE(peer().loss.find("refused to receive into a buffer"), std::string::npos) << peer().loss;
}

TEST_F(Packets, ProviderThatRefusesReceivesIsReported) {
  std::string error;
  endpoint_.receive_codes = {-FI_EINVAL};
  EXPECT_FALSE(receiver_.post_buffers(error));
  EXPECT_NE(error.find(std::strerror(FI_EINVAL)), std::string::npos) << error;
}

// A packet that is repeated arrives behind many others, which must leave a buffer for it.
TEST_F(Packets, EarlyPacketsLeaveBuffersForThoseBeforeThem) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  std::vector<std::uint64_t> words;
  for (std::uint64_t word = 0; word < 100; ++word) {
    send(word);
    words.push_back(word);
  }
  for (std::size_t i = 1; i < 100; ++i) {
    arrive(endpoint_.sent[i].bytes);
    EXPECT_TRUE(received().empty());
  }
  arrive(endpoint_.sent[0].bytes);
  EXPECT_EQ(received(), words);
  EXPECT_EQ(endpoint_.posted.size(), 16u);
}

}  // namespace
}  // namespace oriel::ofi_test
