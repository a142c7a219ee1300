// SPDX-License-Identifier: BSD-3-Clause
// Packets whose sends and receives a provider refuses or fails.
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
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

/// A message whose bytes all differ from their neighbours.
std::vector<std::byte> message_of(std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i * 7 + i / 256);
  return message;
}

/// A process with one peer, whose endpoint has our id: packets of ours are packets of the peer.
class Packets : public ::testing::Test {
 protected:
  Packets() {
    for (const std::uint64_t id : {peer_id, our_id}) {
      auto added = std::make_unique<NetworkPeer>();
      added->lifeline = endpoint_.attach(id).lifeline;
      added->number = static_cast<int>(peers_.size());
      peers_.push_back(std::move(added));
    }
  }

  void attach_up_to(std::size_t peers) {
    while (peers_.size() < peers) {
      auto added = std::make_unique<NetworkPeer>();
      added->lifeline = endpoint_.attach(peers_.size() + 100).lifeline;
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
  /// All messages that can be taken out now.
  std::vector<std::vector<std::byte>> received_messages() {
    std::vector<std::vector<std::byte>> messages;
    for (auto message = receiver_.next_message(); !message.empty();
         message = receiver_.next_message()) {
      messages.emplace_back(message.begin(), message.end());
    }
    return messages;
  }
  /// The provider reports the ends of all sends.
  void complete_sends() {
    for (; completed_ < endpoint_.sent.size(); ++completed_) {
      sender_.sent(*endpoint_.sent[completed_].buffer, 0);
    }
  }
  /// Long and short messages arrive whole in packets of at most so many bytes.
  void expect_parts(std::size_t longest) {
    std::string error;
    ASSERT_TRUE(receiver_.post_buffers(error));
    const std::vector<std::vector<std::byte>> messages{message_of(8), message_of(5000),
                                                       message_of(longest - 32), message_of(16)};
    for (const auto& message : messages) {
      const std::span all(message);
      sender_.send(peer(), all.first(8), all.subspan(8));
    }
    sender_.push();
    EXPECT_EQ(endpoint_.sent.size(), 9u);
    for (const FakeEndpoint::Sent& sent : endpoint_.sent) {
      EXPECT_LE(sent.bytes.size(), longest);
      arrive(sent.bytes);
    }
    EXPECT_EQ(received_messages(), messages);
  }
  static std::uint32_t number_of(const FakeEndpoint::Sent& sent) {
    return PacketReader(sent.bytes).sequence();
  }

  FakeEndpoint endpoint_;
  NetworkPeers peers_;
  ImmediateFormat immediate_;
  PacketBuffers buffers_{endpoint_};
  PacketReceiver receiver_{endpoint_, buffers_, peers_, immediate_};
  PacketSender sender_{endpoint_, buffers_, peers_, immediate_};
  std::size_t completed_ = 0;  // sends
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

// The receiver keeps a limited number of packets that have overtaken another one.
TEST_F(Packets, FewPacketsOvertakeOneThatMayStillFail) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  std::vector<std::uint64_t> words;
  for (std::uint64_t word = 0; word < 1500; ++word) {
    send(word);
    words.push_back(word);
  }
  std::vector<std::uint64_t> all;
  std::size_t arrived = 1;
  const auto deliver = [&] {
    for (; arrived < endpoint_.sent.size(); ++arrived) {
      arrive(endpoint_.sent[arrived].bytes);
      std::ranges::copy(received(), std::back_inserter(all));
    }
  };
  deliver();
  EXPECT_EQ(all.size(), 0u);
  // All have left but the first, which fails twice.
  for (std::size_t i = 1; i < arrived; ++i) sender_.sent(*endpoint_.sent[i].buffer, 0);
  std::size_t failed = 0;
  for (int i = 0; i < 2; ++i) {
    sender_.push_backlogs();
    sender_.sent(*endpoint_.sent[failed].buffer, FI_ENOMEM);
    failed = endpoint_.sent.size();
    sender_.push_backlogs();
    ASSERT_EQ(endpoint_.sent.size(), failed + 1) << "nothing else overtakes it";
    arrived = failed + 1;
  }
  arrived = failed;
  for (std::size_t done = failed; done < endpoint_.sent.size(); ++done) {
    deliver();
    sender_.sent(*endpoint_.sent[done].buffer, 0);
    sender_.push_backlogs();
  }
  deliver();
  EXPECT_EQ(all, words);
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

// The last packets of a peer that has ended are taken out, also those that have come early.
TEST_F(Packets, SendThatFailsAfterItsPeerHasEndedLosesNoArrival) {
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  send(1);
  send(2);
  NetworkPeer& ended = *peers_[1];
  constexpr std::uint64_t word = 3;
  sender_.send(ended, std::as_bytes(std::span(&word, 1)), {});
  sender_.push();
  ASSERT_EQ(endpoint_.sent.size(), 3u);
  arrive(endpoint_.sent[1].bytes);
  EXPECT_TRUE(received().empty());
  ended.ended = true;
  sender_.sent(*endpoint_.sent[2].buffer, FI_ENOTCONN);
  arrive(endpoint_.sent[0].bytes);
  EXPECT_EQ(received(), (std::vector<std::uint64_t>{1, 2}));
}

// A buffer that was released twice would hold the packets of two peers.
TEST_F(Packets, PacketThatIsLostInTheBacklogIsReleasedOnce) {
  endpoint_.send_codes = {-FI_EAGAIN, -FI_ENOTCONN};
  send(1);
  sender_.push_backlogs();
  ASSERT_TRUE(peer().lost);
  std::string error;
  PacketBuffer* const first = buffers_.acquire_short(error);
  EXPECT_NE(first, buffers_.acquire_short(error));
}

// The provider reports that an injected packet has failed, without the process to which it went.
TEST_F(Packets, FailureOfAnInjectedPacketIsFoundByThePacketBehind) {
  endpoint_.set_inject_bytes(64);
  send(1);
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  ASSERT_EQ(endpoint_.sent[0].buffer, nullptr);
  sender_.injected_failed();
  ASSERT_EQ(endpoint_.sent.size(), 2u);  // none to the peer that was sent nothing
  ASSERT_NE(endpoint_.sent[1].buffer, nullptr);
  EXPECT_EQ(number_of(endpoint_.sent[1]), 2u);
  sender_.sent(*endpoint_.sent[1].buffer, FI_ENOTCONN);
  EXPECT_FALSE(peer().accepts_packets());
  sender_.injected_failed();
  EXPECT_EQ(endpoint_.sent.size(), 2u);
}

TEST_F(Packets, RefusedMemoryIsTheReasonOfALoss) {
  endpoint_.require_local_registration();
  endpoint_.register_codes.assign(100, -FI_ENOMEM);
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

// Early packets of a peer may have all buffers when the peer is lost.
TEST_F(Packets, BuffersOfALostPeersArrivalsArePostedAgain) {
  endpoint_.require_local_registration();
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  for (std::uint64_t word = 0; word < 17; ++word) send(word);
  endpoint_.register_codes.assign(1000, -FI_ENOMEM);
  for (std::size_t i = 1; i < 17; ++i) {
    arrive(endpoint_.sent[i].bytes);
    EXPECT_TRUE(received().empty());
  }
  EXPECT_TRUE(endpoint_.posted.empty());
  peers_[1]->lose();
  receiver_.post_again();
  EXPECT_EQ(endpoint_.posted.size(), 16u);
}

TEST_F(Packets, ManyShortMessagesShareALongPacket) {
  constexpr std::uint64_t words = 4000;  // 64 KB with their lengths
  for (std::uint64_t word = 0; word < words; ++word) {
    sender_.send(peer(), std::as_bytes(std::span(&word, 1)), {});
  }
  sender_.push();
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  arrive(endpoint_.sent[0].bytes);
  const std::vector<std::uint64_t> all = received();
  ASSERT_EQ(all.size(), words);
  EXPECT_EQ(all.back(), words - 1);
}

// A provider whose longest message is shorter than ours.
TEST_F(Packets, LongMessagesTravelInParts) {
  endpoint_.set_longest_message(1000);
  expect_parts(1000);
}

TEST_F(Packets, PacketsAreNoLongerThanThePeersReceives) {
  peer().longest_packet = 1000;
  expect_parts(1000);
}

TEST_F(Packets, PartsOfNoMessageAreDropped) {
  endpoint_.set_longest_message(60000);
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  const std::vector<std::byte> message = message_of(Message::most_bytes + 60000);
  sender_.send(peer(), message, {});
  sender_.push();
  for (const FakeEndpoint::Sent& sent : endpoint_.sent) {
    arrive(sent.bytes);
    EXPECT_TRUE(received_messages().empty());
  }
  endpoint_.sent.clear();
  const std::vector<std::byte> good = message_of(60000);
  sender_.send(peer(), good, {});
  sender_.push();
  for (const FakeEndpoint::Sent& sent : endpoint_.sent) arrive(sent.bytes);
  EXPECT_EQ(received_messages(), std::vector(1, good));
}

TEST_F(Packets, ReceivesGrowWithTheNumberOfPeers) {
  std::string error;
  for (const auto& [peers, receives] :
       {std::pair{2, 16}, {63, 16}, {64, 17}, {640, 26}, {9000, 64}}) {
    attach_up_to(static_cast<std::size_t>(peers));
    ASSERT_TRUE(receiver_.post_buffers(error));
    EXPECT_EQ(endpoint_.posted.size(), static_cast<std::size_t>(receives));
  }
}

TEST_F(Packets, MemoryOfManyPeersIsThatOfShortPackets) {
  constexpr std::size_t peers = 1000;
  endpoint_.require_local_registration();
  attach_up_to(peers);
  const std::uint64_t word = 1;
  for (const auto& to : peers_) sender_.send(*to, std::as_bytes(std::span(&word, 1)), {});
  EXPECT_LE(endpoint_.registered_bytes, peers * std::size_t{9} * 1024);
  sender_.push();
  complete_sends();
  constexpr std::uint64_t second = 1'000'000'000;
  buffers_.trim(2 * second);
  EXPECT_GE(endpoint_.registered_bytes, peers * PacketBuffers::short_bytes) << "used just now";
  buffers_.trim(2 * second + 1);
  EXPECT_GE(endpoint_.registered_bytes, peers * PacketBuffers::short_bytes) << "too early";
  buffers_.trim(4 * second);
  EXPECT_EQ(endpoint_.registered_bytes, 0u);
  send(1);
  EXPECT_EQ(endpoint_.sent.size(), peers + 1);
}

TEST_F(Packets, BuffersInUseAreNotGivenBack) {
  endpoint_.require_local_registration();
  for (const std::uint64_t word : {1, 2, 3}) send(word);
  const std::vector<std::byte> message = message_of(100000);
  sender_.send(peer(), message, {});
  sender_.push();
  for (std::uint64_t now = 0; now < 10; ++now) buffers_.trim(now * 2'000'000'000);
  EXPECT_EQ(endpoint_.registered, 2);
  complete_sends();
  buffers_.trim(30'000'000'000);
  buffers_.trim(40'000'000'000);
  EXPECT_EQ(endpoint_.registered, 0);
}

TEST_F(Packets, RefusedLongBufferIsReplacedByShortOnes) {
  endpoint_.require_local_registration();
  std::string error;
  ASSERT_TRUE(receiver_.post_buffers(error));
  send(1);
  endpoint_.register_codes.assign(100, -FI_ENOMEM);
  const std::vector<std::byte> message = message_of(20000);
  sender_.send(peer(), message, {});
  sender_.push();
  EXPECT_FALSE(peer().lost);
  ASSERT_EQ(endpoint_.sent.size(), 4u);
  for (const FakeEndpoint::Sent& sent : endpoint_.sent) arrive(sent.bytes);
  EXPECT_EQ(received_messages().back(), message);
}

TEST_F(Packets, RefusedSlabIsReplacedByAShorterOne) {
  endpoint_.require_local_registration();
  endpoint_.register_codes = {-FI_ENOMEM, -FI_ENOMEM};
  send(1);
  EXPECT_FALSE(peer().lost);
  EXPECT_EQ(endpoint_.registered_bytes, 8 * PacketBuffers::short_bytes);
}

}  // namespace
}  // namespace oriel::ofi_test
