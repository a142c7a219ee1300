// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/settings.hpp"
#include "core/base/steps.hpp"
#include "transport/ofi/direct_transfers.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/fabric_errors.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/offers.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/ofi/packet_receiver.hpp"
#include "transport/ofi/packet_sender.hpp"
#include "transport/ofi/unused_cards.hpp"
#include "transport/packet/immediate_data.hpp"

namespace oriel {
namespace {

constexpr std::size_t most_completions = 16;

}  // namespace

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
  OfiNetwork() = default;
  ~OfiNetwork() override { close_endpoint(); }

  /// Opens the endpoint of this card.
  bool open(const Libfabric& library, const Card& card, std::string& error);

  const NetworkName& name() const override { return name_; }
  std::string description() const override;
  int attach(const NetworkName& name, std::string& error) override;

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override;
  void push() override { sender_.push(); }
  bool congested(int process) const override {
    return PacketSender::congested(*peers_[static_cast<std::size_t>(process)]);
  }
  std::span<const std::byte> receive() override;
  bool alive(int process) override;
  std::string loss_reason(int process) const override {
    return peers_[static_cast<std::size_t>(process)]->loss;
  }
  void watch(const NetworkName& name) override { lifeline_->watch(name.lifeline); }
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override {
    return transfers_.begin(peer(process), write, runs, key, token, behind);
  }
  bool finished(Transfer& transfer) override { return transfers_.finished(transfer); }
  bool orders_writes() const override { return facts_.orders_writes; }
  bool transferring() const override { return transfers_.under_way() + registered_ != 0; }
  bool direct() const override { return facts_.direct(); }
  int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override;
  void deregister_buffer(int registration) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override;
  void withdraw(int exposure) override { withdraw_memory(exposure); }
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_wait() override { return receiver_.nothing_arrived() && quiet(); }
  bool drained() override { return sender_.drained(*lifeline_); }
  std::uint64_t delayed() const override { return sender_.delayed(); }

 private:
  void progress();
  void done(OperationContext& context, std::uint64_t bytes, int code);
  NetworkPeer& peer(int process) { return *peers_[static_cast<std::size_t>(process)]; }

  ImmediateFormat immediate_;  // for messages behind writes
  NetworkName name_;
  std::unique_ptr<Lifeline> lifeline_;
  NetworkPeers peers_;
  PacketBuffers buffers_{*this};
  PacketReceiver receiver_{*this, buffers_, peers_, immediate_};
  PacketSender sender_{*this, buffers_, peers_, receiver_, immediate_};
  DirectTransfers transfers_{*this, buffers_, peers_, sender_, receiver_};
  unsigned polls_ = 0;          // number of calls of progress()
  bool polled_ = false;         // receive() has polled the provider since it last returned nothing
  std::size_t registered_ = 0;  // buffers for transfers of other processes
};

OfferedNetworks OfiNetworks::offered(std::string& error) {
  const Libfabric* library = Libfabric::load(error);
  if (library == nullptr) return {};
  return networks_of(offered_cards(*library, error));
}

std::unique_ptr<Network> OfiNetworks::open_network(std::uint64_t choice, int number,
                                                   std::string& error) {
  const Libfabric* library = Libfabric::load(error);
  if (library == nullptr) return nullptr;
  const std::vector<Card> cards = offered_cards(*library, error);
  unsigned cpu = 0;
  unsigned numa_node = 0;
  const bool known = ::getcpu(&cpu, &numa_node) == 0;
  const Card* card = nearest_card(cards, choice, known ? static_cast<int>(numa_node) : -1, number);
  if (card == nullptr) {
    if (!cards.empty()) error = "libfabric no longer offers the network";
    return nullptr;
  }
  auto made = std::make_unique<OfiNetwork>();
  return made->open(*library, *card, error) ? std::move(made) : nullptr;
}

bool OfiNetwork::open(const Libfabric& library, const Card& card, std::string& error) {
  library_ = &library;
  const auto [offer, facts] = best_offer(library, card);
  info_ = offer;
  facts_ = facts;
  if (info_ == nullptr) {
    error = "libfabric's provider " + card.provider + " no longer offers " + card.domain;
    return false;
  }
  if (!open_endpoint(error)) return false;
  immediate_ = ImmediateFormat(facts_.immediate_bytes);
  name_.endpoint = own_name_;
  lifeline_ =
      std::make_unique<Lifeline>(std::span(own_name_.address).first(own_name_.address_bytes),
                                 static_cast<int>(setting_int("ORIEL_PEER_TIMEOUT")));
  name_.lifeline = lifeline_->name();
  return receiver_.post_buffers(error);
}

std::string OfiNetwork::description() const {
  const std::uint32_t version = library_->version();
  const std::string unused =
      facts_.carrier != Fabric::Carrier::card ? unused_cards() : std::string();
  return std::string(info_->fabric_attr->prov_name) + " of libfabric " +
         std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version)) + " (" +
         library_->path + "), " + facts_.description() + (unused.empty() ? "" : ". " + unused);
}

int OfiNetwork::attach(const NetworkName& name, std::string& error) {
  const int number = attach_endpoint(name.endpoint, error);
  if (number != static_cast<int>(peers_.size())) return number;
  auto added = std::make_unique<NetworkPeer>();
  added->name = name;
  added->number = number;
  peers_.push_back(std::move(added));
  return number;
}

void OfiNetwork::send(int process, std::span<const std::byte> header,
                      std::span<const std::byte> payload) {
  NetworkPeer& to = peer(process);
  // If the process has ended, alive() reports that to the caller that waits.
  if (to.accepts_packets()) sender_.send(to, header, payload);
}

void OfiNetwork::progress() {
  // A rank that waits also passes on losses that are reported to it. Most calls of Lifeline::poll()
  // only read the clock.
  if (++polls_ % steps::polls_per_host_interval == 0) lifeline_->poll();
  std::array<fi_cq_data_entry, most_completions> entries;
  const ssize_t count = fi_cq_read(completions_, entries.data(), entries.size());
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry entry{};
    if (fi_cq_readerr(completions_, &entry, 0) > 0 && entry.op_context != nullptr) {
      done(*static_cast<OperationContext*>(entry.op_context), 0, entry.err);
    }
  } else if (count < 0 && meaning_of(count) != FabricError::passing) {
    receiver_.lose_all(refusal("to report completions", count));
  }
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_data_entry& entry = entries[static_cast<std::size_t>(i)];
    // The flag alone is not enough: the provider sockets also sets it at the origin, when our write
    // is over. Completions of other processes' writes have no context, because FI_RX_CQ_DATA is not
    // used.
    if (entry.op_context != nullptr) {
      done(*static_cast<OperationContext*>(entry.op_context), entry.len, 0);
    } else if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
      receiver_.arrived({nullptr, entry.data});
    }
  }
  receiver_.post_again();
  sender_.push_backlogs();
  transfers_.repeat();
}

/// Handles the end of an operation. `code`: libfabric's; 0: without an error.
void OfiNetwork::done(OperationContext& context, std::uint64_t bytes, int code) {
  using Kind = OperationContext::Kind;
  switch (context.kind) {
    case Kind::receive: {
      auto& buffer = static_cast<PacketBuffer&>(context);
      receiver_.unposted();
      // The packet was too long, for example, or its connection has broken.
      if (code != 0) return receiver_.post(buffer);
      buffer.bytes = bytes;
      return receiver_.arrived({&buffer});
    }
    case Kind::send:
      return sender_.sent(static_cast<PacketBuffer&>(context), code);
    case Kind::transfer:
      return transfers_.over(static_cast<DirectTransfer&>(context), code);
  }
}

int OfiNetwork::expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) {
  return facts_.direct() && bytes != 0
             ? expose_memory(memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, exposed)
             : -1;
}

/// Registers for the requested access only, because memory that the program only reads may be
/// read-only.
int OfiNetwork::register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                                RemoteMemory& registered) {
  if (!facts_.direct()) return -1;
  const int registration =
      expose_memory(memory, bytes, to_be_written ? FI_REMOTE_WRITE : FI_REMOTE_READ, registered);
  if (registration >= 0) ++registered_;
  return registration;
}

void OfiNetwork::deregister_buffer(int registration) {
  withdraw_memory(registration);
  --registered_;
}

std::span<const std::byte> OfiNetwork::receive() {
  auto message = receiver_.next_message();
  // Polling takes a system call or two, so arrivals are answered before the next poll.
  if (message.empty() && !std::exchange(polled_, true)) {
    progress();
    message = receiver_.next_message();
  }
  if (message.empty()) polled_ = false;
  return message;
}

bool OfiNetwork::alive(int process) {
  NetworkPeer& asked = peer(process);
  if (!asked.lost && !lifeline_->alive(asked.name.lifeline)) receiver_.lose(asked);
  return !asked.lost;
}

}  // namespace oriel
