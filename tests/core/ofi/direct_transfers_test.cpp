// SPDX-License-Identifier: BSD-3-Clause
// Direct transfers that a provider refuses or fails.
#include "transport/ofi/direct_transfers.hpp"

#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ofi/fake_endpoint.hpp"
#include "transport/ofi/packet_receiver.hpp"
#include "transport/packet/packet.hpp"

namespace oriel::ofi_test {
namespace {

class DirectTransfersTest : public ::testing::Test {
 protected:
  DirectTransfersTest() {
    auto added = std::make_unique<NetworkPeer>();
    added->lifeline = endpoint_.attach(7).lifeline;
    peers_.push_back(std::move(added));
  }

  NetworkPeer& peer() { return *peers_[0]; }
  Accepted accept(bool write, Behind* behind = nullptr) {
    const std::array<TransferRun, 1> runs{{{memory_.data(), 4096, memory_.size()}}};
    return transfers_.begin(peer(), write, runs, 5, ++token_, behind);
  }
  std::uint64_t begin(bool write, Behind* behind = nullptr) { return accept(write, behind).bytes; }
  /// The provider reports the end of the last transfer that it has accepted.
  void complete(int code) {
    transfers_.over(static_cast<DirectTransfer&>(*endpoint_.moved.back().context), code);
  }
  std::optional<Error> result() {
    Transfer transfer;
    if (!transfers_.finished(transfer)) return std::nullopt;
    EXPECT_EQ(transfer.bytes, memory_.size());
    return transfer.error;
  }

  FakeEndpoint endpoint_;
  NetworkPeers peers_;
  ImmediateFormat immediate_{8};
  PacketBuffers buffers_{endpoint_};
  PacketSender sender_{endpoint_, buffers_, peers_, immediate_};
  DirectTransfers transfers_{endpoint_, buffers_, peers_, sender_};
  // Too long to be copied into a short buffer.
  std::array<std::byte, 16 * 1024> memory_{};
  std::uint64_t token_ = 0;
};

TEST_F(DirectTransfersTest, RefusedTransferIsItsOwnError) {
  endpoint_.set_transfers(1 << 20, true);
  for (const bool write : {false, true}) {
    endpoint_.transfer_codes = {-FI_EINVAL};
    EXPECT_EQ(begin(write), memory_.size());
    EXPECT_EQ(result(), Error::system);
    EXPECT_EQ(begin(write), memory_.size());
    complete(FI_EIO);
    EXPECT_EQ(result(), Error::system);
  }
  EXPECT_FALSE(peer().lost);
  EXPECT_EQ(transfers_.under_way(), 0u);
}

TEST_F(DirectTransfersTest, ShortageIsWaitedFor) {
  endpoint_.set_transfers(1 << 20, true);
  endpoint_.transfer_codes = {-FI_ENOMEM};
  EXPECT_EQ(begin(true), 0u);
  EXPECT_EQ(result(), std::nullopt);
  EXPECT_EQ(begin(true), memory_.size());
}

TEST_F(DirectTransfersTest, PeerThatHasEndedIsLost) {
  endpoint_.set_transfers(1 << 20, true);
  // Packets of the peer may still wait to be taken.
  begin(true);
  peer().ended = true;
  complete(FI_ENOTCONN);
  EXPECT_EQ(result(), Error::peer_lost);
  EXPECT_FALSE(peer().lost);
  peer().ended = false;
  begin(true);
  complete(FI_ENOTCONN);
  EXPECT_EQ(result(), Error::peer_lost);
  EXPECT_TRUE(peer().lost);
}

TEST_F(DirectTransfersTest, TransferThatHasFailedForAShortageIsRepeated) {
  for (const bool ordered : {false, true}) {
    endpoint_.set_transfers(1 << 20, ordered);
    const bool write = !ordered;  // a read, where writes are ordered
    endpoint_.moved.clear();
    begin(write);
    complete(FI_ENOBUFS);
    EXPECT_EQ(result(), std::nullopt);
    EXPECT_EQ(transfers_.under_way(), 1u);
    endpoint_.transfer_codes = {-FI_EAGAIN};
    transfers_.repeat();
    transfers_.repeat();
    ASSERT_EQ(endpoint_.moved.size(), 2u);
    EXPECT_EQ(endpoint_.moved[1].write, write);
    EXPECT_EQ(endpoint_.moved[1].local.iov_base, memory_.data());
    EXPECT_EQ(endpoint_.moved[1].local.iov_len, memory_.size());
    EXPECT_EQ(endpoint_.moved[1].remote.addr, 4096u);
    EXPECT_EQ(endpoint_.moved[1].remote.key, 5u);
    complete(0);
    EXPECT_EQ(result(), Error::none);
  }
}

TEST_F(DirectTransfersTest, ShortageThatDoesNotEndIsAnError) {
  endpoint_.set_transfers(1 << 20, true);
  begin(false);
  for (int i = 0; i < 1000 && transfers_.under_way() != 0; ++i) {
    complete(FI_ENOBUFS);
    transfers_.repeat();
  }
  EXPECT_EQ(result(), Error::system);
  EXPECT_FALSE(peer().lost);
}

// A message may have been sent behind it, which would then arrive before the bytes.
TEST_F(DirectTransfersTest, OrderedWriteIsNotRepeated) {
  endpoint_.set_transfers(1 << 20, true);
  begin(true);
  complete(FI_ENOBUFS);
  EXPECT_EQ(result(), Error::system);
}

TEST_F(DirectTransfersTest, WriteToALostPeerIsNotRepeated) {
  endpoint_.set_transfers(1 << 20, false);
  begin(true);
  complete(FI_ENOBUFS);
  peer().lose();
  transfers_.repeat();
  EXPECT_EQ(endpoint_.moved.size(), 1u);
  EXPECT_EQ(result(), Error::peer_lost);
}

// The program may only read its buffer, or the limit of locked memory is reached.
TEST_F(DirectTransfersTest, MemoryThatCannotBeRegisteredIsCopiedThroughABuffer) {
  endpoint_.set_transfers(1 << 20, true);
  endpoint_.require_local_registration();
  for (const bool write : {true, false}) {
    memory_.fill(std::byte{1});
    EXPECT_FALSE(accept(write).copied);
    complete(0);
    EXPECT_EQ(result(), Error::none);
    endpoint_.register_codes = {-FI_EFAULT};
    const Accepted accepted = accept(write);
    EXPECT_EQ(accepted.bytes, memory_.size());
    EXPECT_EQ(accepted.copied, write);
    auto* const bounce = static_cast<std::byte*>(endpoint_.moved.back().local.iov_base);
    ASSERT_NE(bounce, memory_.data());
    EXPECT_EQ(endpoint_.moved.back().local.iov_len, memory_.size());
    if (write) {
      EXPECT_EQ(bounce[63], std::byte{1});
    }
    bounce[63] = std::byte{2};
    complete(0);
    EXPECT_EQ(result(), Error::none);
    EXPECT_EQ(memory_[63], write ? std::byte{1} : std::byte{2});
  }
}

// Hosts copy short puts, so programs reuse their buffers at once.
TEST_F(DirectTransfersTest, ShortWriteIsOfACopy) {
  endpoint_.set_transfers(1 << 20, true);
  std::array<std::byte, 24> source{};
  source.fill(std::byte{1});
  const std::array<TransferRun, 2> runs{{{source.data() + 16, 4096, 8}, {source.data(), 5000, 8}}};
  // The request of one that fails at once reports the error.
  endpoint_.transfer_codes = {-FI_EINVAL};
  EXPECT_FALSE(transfers_.begin(peer(), true, runs, 5, 1, nullptr).copied);
  const Accepted accepted = transfers_.begin(peer(), true, runs, 5, 1, nullptr);
  EXPECT_EQ(accepted.bytes, 16u);
  EXPECT_TRUE(accepted.copied);
  source.fill(std::byte{2});
  const iovec local = endpoint_.moved.back().local;
  ASSERT_EQ(local.iov_len, 16u);
  const std::span copy(static_cast<const std::byte*>(local.iov_base), local.iov_len);
  EXPECT_EQ(std::ranges::count(copy, std::byte{1}), 16);
  // A buffer is used again when its transfer is over.
  complete(0);
  transfers_.begin(peer(), true, runs, 5, 2, nullptr);
  EXPECT_EQ(endpoint_.moved.back().local.iov_base, local.iov_base);
}

TEST_F(DirectTransfersTest, ManyShortWritesAreInFlight) {
  endpoint_.set_transfers(1 << 20, true);
  std::array<std::byte, 8> source{};
  const std::array<TransferRun, 1> runs{{{source.data(), 4096, source.size()}}};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(transfers_.begin(peer(), true, runs, 5, 1, nullptr).bytes, 8u) << i;
  }
  for (int i = 0; i < 64; ++i) ASSERT_NE(begin(true), 0u) << i;
  EXPECT_EQ(begin(true), 0u);
}

// The message would announce bytes that are not there.
TEST_F(DirectTransfersTest, NothingFollowsAWriteThatHasFailedAtOnce) {
  endpoint_.set_transfers(1 << 20, true);
  const std::array<std::byte, 8> message{};
  Behind behind{message};
  endpoint_.transfer_codes = {-FI_EINVAL};
  begin(true, &behind);
  EXPECT_TRUE(behind.failed);
  EXPECT_FALSE(behind.went);
}

TEST_F(DirectTransfersTest, ShortTransferRegistersNoMemory) {
  endpoint_.set_transfers(1 << 20, true);
  endpoint_.require_local_registration();
  std::array<std::byte, 24> memory{};
  const std::array<TransferRun, 2> runs{{{memory.data() + 16, 4096, 8}, {memory.data(), 5000, 8}}};
  for (const bool write : {true, false}) {
    EXPECT_EQ(transfers_.begin(peer(), write, runs, 5, 1, nullptr).copied, write);
    EXPECT_EQ(endpoint_.registered, 1);  // the slab
    auto* const copy = static_cast<std::byte*>(endpoint_.moved.back().local.iov_base);
    std::fill_n(copy, 8, std::byte{3});
    std::fill_n(copy + 8, 8, std::byte{4});
    complete(0);
    EXPECT_EQ(memory[16], write ? std::byte{0} : std::byte{3});
    EXPECT_EQ(memory[7], write ? std::byte{0} : std::byte{4});
    EXPECT_EQ(memory[8], std::byte{0});
  }
}

TEST_F(DirectTransfersTest, ShortReadGoesIntoTheMemoryItselfIfItNeedsNoRegistration) {
  endpoint_.set_transfers(1 << 20, true);
  std::array<std::byte, 8> memory{};
  const std::array<TransferRun, 1> runs{{{memory.data(), 4096, memory.size()}}};
  transfers_.begin(peer(), false, runs, 5, 1, nullptr);
  EXPECT_EQ(endpoint_.moved.back().local.iov_base, memory.data());
}

TEST_F(DirectTransfersTest, LongMemoryThatCannotBeRegisteredIsCopiedInParts) {
  endpoint_.set_transfers(1 << 30, true);
  endpoint_.require_local_registration();
  std::vector<std::byte> long_memory(3 * PacketBuffers::most_bytes, std::byte{1});
  const std::array<TransferRun, 1> runs{{{long_memory.data(), 4096, long_memory.size()}}};
  const auto begin_long = [&](Behind* behind) {
    // The memory is refused; a slab of buffers before the first transfer is not.
    endpoint_.register_codes = {-FI_ENOMEM};
    return transfers_.begin(peer(), true, runs, 5, 1, behind).bytes;
  };
  peer().self = 3;
  const std::array<std::byte, 8> message{};
  Behind behind{message};
  EXPECT_EQ(begin_long(&behind), PacketBuffers::most_bytes);
  EXPECT_FALSE(behind.went) << "bytes are left";
  // Buffers in use are few.
  int accepted = 1;
  while (accepted < 20 && begin_long(nullptr) != 0) ++accepted;
  EXPECT_EQ(accepted, 8);
  complete(0);
  EXPECT_EQ(begin_long(nullptr), PacketBuffers::most_bytes);
}

// The transfers under way hold all memory that the process may lock.
TEST_F(DirectTransfersTest, RefusedRegistrationIsWaitedForIfTransfersHoldOthers) {
  endpoint_.set_transfers(1 << 20, true);
  endpoint_.require_local_registration();
  begin(true);
  endpoint_.register_codes.assign(100, -FI_ENOMEM);
  EXPECT_EQ(begin(true), 0u);
  EXPECT_EQ(result(), std::nullopt);
  complete(0);
  EXPECT_EQ(result(), Error::none);
  endpoint_.register_codes.assign(100, -FI_ENOMEM);
  EXPECT_EQ(begin(true), memory_.size());
  EXPECT_EQ(result(), Error::system);
  endpoint_.register_codes.clear();
  EXPECT_EQ(begin(true), memory_.size());
  complete(0);
  EXPECT_EQ(result(), Error::none);
}

TEST_F(DirectTransfersTest, RegistrationsEndWithTheirTransfers) {
  endpoint_.set_transfers(1 << 20, true);
  endpoint_.require_local_registration();
  begin(true);
  EXPECT_EQ(endpoint_.registered, 1);
  complete(0);
  EXPECT_EQ(endpoint_.registered, 0);
}

class WithImmediateData : public DirectTransfersTest {
 protected:
  WithImmediateData() {
    endpoint_.set_transfers(1 << 20, true);
    peer().self = 3;
  }
  /// A write with a message behind it, which goes as immediate data.
  void begin_announced() {
    Behind behind{message_};
    begin(true, &behind);
    EXPECT_TRUE(behind.went);
  }
  const std::array<std::byte, 8> message_{};
};

TEST_F(WithImmediateData, WriteIsRepeatedWithItsNumber) {
  begin_announced();
  complete(FI_ENOBUFS);
  transfers_.repeat();
  ASSERT_EQ(endpoint_.moved.size(), 2u);
  EXPECT_EQ(endpoint_.moved[0].data, endpoint_.moved[1].data);
  EXPECT_NE(endpoint_.moved[1].flags & FI_REMOTE_CQ_DATA, 0u);
}

// The provider may report immediate data before packets that wait for a buffer.
TEST_F(WithImmediateData, IsNotFarAheadOfWhatThePeerHasTaken) {
  const auto announce = [&] {
    Behind behind{message_};
    begin(true, &behind);
    complete(0);
    return behind.went;
  };
  ASSERT_TRUE(announce());
  // The packet with the message that the immediate data stand for.
  sender_.sent(*endpoint_.sent.front().buffer, 0);
  int announced = 2;
  while (announced < 1000 && announce()) ++announced;
  EXPECT_EQ(announced, 256);
  // A packet of the peer says what the peer has taken.
  PacketReceiver receiver(endpoint_, buffers_, peers_, immediate_);
  std::string error;
  ASSERT_TRUE(receiver.post_buffers(error));
  const FakeEndpoint::Posted posted = endpoint_.posted.front();
  PacketWriter writer(std::span(posted.memory, 1024));
  posted.buffer->bytes = writer.close(7, 1, 0, peer().sent).size();
  receiver.unposted();
  receiver.arrived({posted.buffer});
  EXPECT_TRUE(receiver.next_message().empty());
  EXPECT_EQ(peer().confirmed, peer().sent);
  EXPECT_TRUE(announce());
}

TEST_F(WithImmediateData, NumberOfAWriteThatHasFailedIsSentWithoutAMessage) {
  begin_announced();
  const std::uint32_t number = peer().sent;
  const std::size_t before = endpoint_.sent.size();
  complete(FI_EIO);
  EXPECT_EQ(result(), Error::system);
  ASSERT_EQ(endpoint_.sent.size(), before + 1);
  PacketReader packet(endpoint_.sent.back().bytes);
  EXPECT_EQ(packet.sequence(), number);
  EXPECT_TRUE(packet.next().empty());
}

}  // namespace
}  // namespace oriel::ofi_test
