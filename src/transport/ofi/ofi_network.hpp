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
#include "transport/packet/in_order.hpp"
#include "transport/packet/message_codes.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// Processes on other nodes by libfabric: one reliable endpoint, messages in packets.
///
/// Ladder of a message: copied into the open packet of its receiver; push() or a full packet sends
/// it (one fi_send, or for a short one fi_inject, of whose end nobody has to be told); the
/// receiver's progress puts it into one of its posted buffers, whose messages are then taken out
/// one by one, and the buffer is posted again. The provider keeps the order between two endpoints
/// (FI_ORDER_SAS): that in which packets meet buffers. It may tell of a long one later than of the
/// short one behind it, which then waits here. It holds back when the receiver has no buffer left
/// (FI_RM_ENABLED).
///
/// A message behind a write goes with it as immediate data (FI_REMOTE_CQ_DATA), which has a number
/// among the packets like one of them, so that nothing depends on when the provider tells of it,
/// and which no provider tells of when the write has failed. It does not go where the provider has
/// none, or keeps no order between writes (FI_ORDER_WAW), or the receiver has sent us nothing yet
/// that says who we are there.
///
/// What is sent when a write is finished without an error finds its bytes there, by FI_ORDER_SAW.
/// That no failure of the write comes to light later is what the provider promises of a reliable
/// endpoint: who keeps a connection (tcp, verbs) ends it at a write that the target refuses, and
/// with it all that is behind; all others finish a write when the target's side has taken it
/// (FI_TRANSMIT_COMPLETE), or, where they keep no order, when its bytes are there
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
  /// Something under way: libfabric gives the context back with the completion.
  struct Work {
    enum class Kind : std::uint8_t { receive, send, transfer };
    fi_context2 context{};  // first: the completion's pointer is that of the Work
    Kind kind = Kind::receive;
    int process = -1;  // not of a receive
    std::uint64_t bytes = 0;
  };
  /// A buffer of one packet, on its way out or waiting for one to come in.
  struct Buffer : Work {
    std::byte* data = nullptr;
    void* descriptor = nullptr;  // of its memory registration, where the provider wants one
  };
  /// What has come: a packet, or immediate data.
  struct Arrival {
    Buffer* packet = nullptr;  // null: immediate data
    std::uint64_t data = 0;
  };
  struct DirectTransfer : Work {
    std::uint64_t token = 0;
    fid_mr* registration = nullptr;  // of our memory, where the provider wants one
  };
  /// What is asked of a provider, beside reliable messages in order.
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
    Buffer* open = nullptr;  // the packet being put together
    PacketWriter packet;
    std::uint32_t sent = 0;             // packets, and immediate data in the place of one
    InOrder<Arrival> order;             // of what it has sent us
    CodesGiven codes_given;             // of messages behind our writes
    CodesHeard codes_heard;             // of messages behind its writes
    std::optional<std::uint32_t> self;  // our number there
    std::uint32_t overtaking = 0;       // immediate data since no packet was under way
    std::deque<Buffer*> backlog;        // closed packets that the provider did not take
    std::size_t under_way = 0;          // packets
    std::uint64_t bytes_under_way = 0;  // of them
    bool injected = false;              // since an empty packet was sent
    bool listed = false;                // in open_
    bool ended = false;                 // what it has sent is still taken
    bool lost = false;                  // nor is that

    bool takes_packets() const { return !ended && !lost; }
  };

  OfiNetwork() = default;
  bool open(std::string& error);
  bool choose(std::string& error);
  fi_info* offers(const Wish& wish, int& code) const;
  bool choose_direct();
  Buffer* take_buffer();
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
  void look_for_ended();
  void lose(Peer& gone);
  Peer& peer(int process) { return *peers_[static_cast<std::size_t>(process)]; }

  /// Of InOrder's numbers, half.
  static constexpr std::uint32_t most_overtaking = 256;

  bool direct_ = false;  // the provider has direct transfers
  bool orders_writes_ = false;
  ImmediateFormat immediate_;  // of messages behind writes
  std::uint64_t longest_transfer_ = 0;

  NetworkName name_;
  std::unique_ptr<Lifeline> lifeline_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<int> open_;  // processes with an open packet
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<Buffer*> free_;
  unsigned looks_ = 0;           // of progress()
  bool looked_ = false;          // the provider was asked since receive() last returned nothing
  std::deque<Arrival> arrived_;  // not yet looked into
  std::vector<Buffer*> unposted_;
  Buffer* current_ = nullptr;  // whose messages are being taken out
  Peer* sender_ = nullptr;     // of the packet or the immediate data that was begun last
  PacketReader reader_;
  std::span<const std::byte> named_;      // the message that immediate data has named
  std::deque<DirectTransfer> transfers_;  // all there have been
  std::vector<DirectTransfer*> idle_transfers_;
  std::deque<Transfer> finished_;
  std::size_t transfers_under_way_ = 0;
  std::size_t registered_ = 0;
  std::size_t under_way_ = 0;           // packets
  std::size_t backlogged_ = 0;          // packets
  std::uint64_t looked_for_ended_ = 0;  // nanoseconds
  std::uint64_t delayed_ = 0;           // packets that were backlogged
};

}  // namespace oriel
