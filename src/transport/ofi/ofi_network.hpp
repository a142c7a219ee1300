// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// The network to processes on other nodes by libfabric: one reliable endpoint, messages in
/// packets.
///
/// The steps of a message:
/// 1. send() copies it into the open packet of its receiver.
/// 2. push(), or a full packet, sends the packet: one fi_send, or for a short packet one fi_inject,
///    which reports no completion.
/// 3. The receiver's progress puts the packet into one of its posted buffers.
/// 4. The messages are taken out one by one, and the buffer is posted again.
/// The provider keeps the order of packets between two endpoints (FI_ORDER_SAS), in which they are
/// put into buffers. It may report a long packet later than a short one behind it, which then waits
/// here. It holds packets back if the receiver has no buffer left (FI_RM_ENABLED).
///
/// A message behind a write is sent with it as immediate data (FI_REMOTE_CQ_DATA), which has a
/// number among the packets like a packet. So the time at which the provider reports it does not
/// matter, and no provider reports it if the write has failed. The message is sent in a packet
/// instead if the provider has no immediate data or keeps no order between writes (FI_ORDER_WAW),
/// or if the receiver has not yet sent a packet, which contains our number there.
///
/// By FI_ORDER_SAW a message that is sent after a write has finished without an error finds the
/// write's bytes at the target. No failure of the write is reported later, as providers promise for
/// reliable endpoints: connection-oriented ones (tcp, verbs) end the connection at a write that the
/// target refuses, with everything behind it. All others finish a write when the target's side has
/// accepted it (FI_TRANSMIT_COMPLETE), or, if they keep no order, when its bytes have arrived
/// (FI_DELIVERY_COMPLETE).
class OfiNetwork final : public Network, private OfiEndpoint {
 public:
  static std::unique_ptr<OfiNetwork> create(std::string& error);
  ~OfiNetwork() override;

  const NetworkName& name() const override { return name_; }
  std::string description() const override;
  int attach(const NetworkName& name, std::string& error) override;

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override;
  void push() override;
  bool congested(int process) const override;
  std::span<const std::byte> receive() override;
  bool alive(int process) override;
  void watch(const NetworkName& name) override { lifeline_->watch(name.lifeline); }
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override;
  bool finished(Transfer& transfer) override;
  bool orders_writes() const override { return orders_writes_; }
  bool transferring() const override { return transfers_under_way_ + registered_ != 0; }
  bool direct() const override { return direct_; }
  int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override;
  void deregister_buffer(int registration) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override;
  void withdraw(int exposure) override { withdraw_memory(exposure); }
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_wait() override { return arrived_.empty() && quiet(); }
  bool drained() override;
  std::uint64_t delayed() const override { return delayed_; }

 private:
  /// A libfabric operation in flight. libfabric returns the context with the completion.
  struct Work {
    enum class Kind : std::uint8_t { receive, send, transfer };
    fi_context2 context{};  // first: the completion's pointer is that of the Work
    Kind kind = Kind::receive;
    int process = -1;  // not for a receive
    std::uint64_t bytes = 0;
  };
  /// A buffer of one packet, being sent or posted to receive.
  struct Buffer : Work {
    std::byte* data = nullptr;
    void* descriptor = nullptr;  // of its memory registration, if the provider requires one
  };
  /// An arrival: a packet, or immediate data.
  struct Arrival {
    Buffer* packet = nullptr;  // null: immediate data
    std::uint64_t data = 0;
  };
  struct DirectTransfer : Work {
    std::uint64_t token = 0;
    fid_mr* registration = nullptr;  // of our memory, if the provider requires one
  };
  /// The capabilities requested of a provider, besides reliable messages in order.
  struct Wish {
    std::string provider;  // empty: any
    std::uint64_t capabilities = 0;
    std::uint64_t order = 0;
    std::uint64_t operation_flags = 0;
  };
  struct Slab;
  struct Peer {
    NetworkName name;
    int number = 0;
    Buffer* open = nullptr;  // the packet being filled
    PacketWriter packet;
    std::uint32_t sent = 0;             // number of packets and immediate data sent
    InOrder<Arrival> order;             // of the arrivals from the peer
    SentCodes sent_codes;               // for messages behind our writes
    ReceivedCodes received_codes;       // for messages behind the peer's writes
    std::optional<std::uint32_t> self;  // our number at the peer
    std::uint32_t overtaking = 0;       // number of immediate data since no packet was in flight
    std::deque<Buffer*> backlog;        // closed packets that the provider did not accept
    std::size_t under_way = 0;          // packets
    std::uint64_t bytes_under_way = 0;  // bytes of these packets
    bool injected = false;              // a packet has been injected since an empty packet was sent
    bool listed = false;                // the peer is in open_
    bool ended = false;  // nothing is sent to it any more; arrivals from it are still taken
    bool lost = false;   // arrivals from it are dropped, too

    bool accepts_packets() const { return !ended && !lost; }
  };

  OfiNetwork() = default;
  bool open(std::string& error);
  bool choose(std::string& error);
  fi_info* offers(const Wish& wish, int& code) const;
  bool choose_direct();
  Buffer* acquire_buffer();
  bool add_buffers(std::string& error);
  bool post(Buffer& buffer);
  bool open_packet(Peer& peer);
  void close_packet(Peer& peer);
  bool inject(Peer& peer, Buffer& buffer);
  bool hand_over(Peer& peer, Buffer& buffer);
  void collect(Peer& to, std::span<const std::byte> header, std::span<const std::byte> payload,
               std::uint32_t code);
  std::optional<std::uint64_t> immediate_for(Peer& to, std::span<const std::byte> message);
  void push_backlog(Peer& peer);
  void progress();
  void done(Work& work, std::uint64_t bytes, Error error);
  void failed(const struct fi_cq_err_entry& entry);
  bool next_packet();
  bool due(Arrival& arrived);
  Peer* sender_of(const Arrival& arrived, std::uint32_t& sequence);
  void begin(const Arrival& arrived);
  bool next_early();
  void forget(const Arrival& arrived);
  void mark_ended_peers();
  void lose(Peer& gone);
  Peer& peer(int process) { return *peers_[static_cast<std::size_t>(process)]; }

  /// Half of the numbers that InOrder keeps.
  static constexpr std::uint32_t most_overtaking = 256;

  bool direct_ = false;  // the provider has direct transfers
  bool orders_writes_ = false;
  ImmediateFormat immediate_;  // for messages behind writes
  std::uint64_t longest_transfer_ = 0;

  NetworkName name_;
  std::unique_ptr<Lifeline> lifeline_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<int> open_;  // processes with an open packet
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<Buffer*> free_;
  unsigned polls_ = 0;           // number of calls of progress()
  bool polled_ = false;          // receive() has polled the provider since it last returned nothing
  std::deque<Arrival> arrived_;  // arrivals not yet handled
  std::vector<Buffer*> unposted_;
  Buffer* current_ = nullptr;  // the packet whose messages are being taken out
  Peer* sender_ = nullptr;     // the sender of the packet or immediate data handled last
  PacketReader reader_;
  std::span<const std::byte> named_;      // the message that immediate data has named
  std::deque<DirectTransfer> transfers_;  // all that have ever been used
  std::vector<DirectTransfer*> idle_transfers_;
  std::deque<Transfer> finished_;
  std::size_t transfers_under_way_ = 0;
  std::size_t registered_ = 0;
  std::size_t under_way_ = 0;        // packets in flight
  std::size_t backlogged_ = 0;       // packets in all backlogs
  std::uint64_t checked_ended_ = 0;  // nanoseconds
  std::uint64_t delayed_ = 0;        // packets that were backlogged
};

}  // namespace oriel
