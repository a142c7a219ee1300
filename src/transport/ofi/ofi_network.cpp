// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "transport/ofi/ofi_atomics.hpp"
#include "transport/ofi/ofi_networks.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/ofi/packet_receiver.hpp"
#include "transport/ofi/packet_sender.hpp"
#include "transport/ofi/unused_cards.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/shm/clock.hpp"

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
/// If the network orders writes (FI_ORDER_SAW), a message may be sent as soon as its write is
/// issued: it finds the write's bytes at the target. Connection-oriented providers (tcp, verbs) end
/// the connection at a write that the target refuses, with everything behind it. If the network
/// delivers writes, each is issued with FI_DELIVERY_COMPLETE, and its completion shows that the
/// bytes have arrived.
class OfiNetwork final : public Network, private OfiEndpoint {
 public:
  OfiNetwork() = default;
  ~OfiNetwork() override { close_endpoint(); }

  /// Opens the endpoint of this card. `offered`: all cards that libfabric offers.
  bool open(const Libfabric& library, const Card& card,
            std::shared_ptr<const std::vector<Card>> offered, std::string& error);

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
  void expect(const NetworkName& name) override { lifeline_->expect(name.lifeline); }
  bool links_answered() override { return lifeline_->links_answered(); }
  Accepted transfer(int process, bool write, std::span<const TransferRun> runs, std::uint64_t key,
                    std::uint64_t token, Behind* behind) override {
    return transfers_.begin(peer(process), write, runs, key, token, behind);
  }
  bool finished(Transfer& transfer) override { return transfers_.finished(transfer); }
  bool orders_writes() const override { return facts_.orders_writes; }
  bool delivers_writes() const override { return facts_.delivers_writes; }
  bool transferring() const override { return transfers_.under_way() + registered_ != 0; }
  bool direct() const override { return facts_.direct(); }
  bool by_card() const override { return facts_.carrier == Fabric::Carrier::card; }
  int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override;
  void deregister_buffer(int registration) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override;
  void withdraw(int exposure) override { withdraw_memory(exposure); }
  AtomicNetwork* atomics() override;
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_wait() override { return receiver_.nothing_arrived() && quiet(); }
  bool drained(int process) override { return sender_.drained(peer(process), *lifeline_); }
  bool drained() override { return sender_.drained(*lifeline_); }
  std::uint64_t delayed() const override { return sender_.delayed(); }

 private:
  void progress();
  void done(OperationContext& context, std::uint64_t bytes, int code);
  NetworkPeer& peer(int process) { return *peers_[static_cast<std::size_t>(process)]; }

  ImmediateFormat immediate_;  // for messages behind writes
  NetworkName name_;
  std::shared_ptr<const std::vector<Card>> offered_;
  std::unique_ptr<Lifeline> lifeline_;
  NetworkPeers peers_;
  PacketBuffers buffers_{*this};
  PacketReceiver receiver_{*this, buffers_, peers_, immediate_};
  PacketSender sender_{*this, buffers_, peers_, immediate_};
  DirectTransfers transfers_{*this, buffers_, peers_, sender_};
  std::unique_ptr<OfiAtomics> atomics_;
  unsigned polls_ = 0;          // number of calls of progress()
  bool polled_ = false;         // receive() has polled the provider since it last returned nothing
  std::size_t registered_ = 0;  // buffers for transfers of other processes
};

OfferedNetworks OfiNetworks::offered(std::string& error) {
  const Libfabric* library = Libfabric::load(error);
  if (library == nullptr) return {};
  cards_ = std::make_shared<const std::vector<Card>>(offered_cards(*library, error));
  OfferedNetworks offered = networks_of(*cards_);
  offered.node = addresses_of_node().node;
  return offered;
}

std::unique_ptr<Network> OfiNetworks::open_network(std::uint64_t choice,
                                                   const RankPosition& position,
                                                   std::string& error) {
  const Libfabric* library = Libfabric::load(error);
  if (library == nullptr || cards_ == nullptr) return nullptr;
  const Card* card = nearest_card(*cards_, choice, position);
  if (card == nullptr) return nullptr;
  auto made = std::make_unique<OfiNetwork>();
  if (!made->open(*library, *card, cards_, error)) return nullptr;
  card_ = std::shared_ptr<const Card>(cards_, card);
  return made;
}

bool OfiNetwork::open(const Libfabric& library, const Card& card,
                      std::shared_ptr<const std::vector<Card>> offered, std::string& error) {
  offered_ = std::move(offered);
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
  name_.endpoint.longest_packet = static_cast<std::uint32_t>(buffers_.long_bytes());
  lifeline_ = std::make_unique<Lifeline>(lifeline_addresses(),
                                         static_cast<int>(setting_int("ORIEL_PEER_TIMEOUT")));
  if (lifeline_->error() != 0) {
    error = std::string("no TCP socket is to be had by which others notice the end of this ") +
            "process: " + std::strerror(lifeline_->error());
    return false;
  }
  name_.lifeline = lifeline_->name();
  return receiver_.post_buffers(error);
}

std::string OfiNetwork::description() const {
  const std::uint32_t version = library_->version();
  const std::string unused = facts_.kernel_ip ? unused_cards(*offered_) : std::string();
  return std::string(info_->fabric_attr->prov_name) + " of libfabric " +
         std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version)) + " (" +
         library_->path + "), " + facts_.description() + (unused.empty() ? "" : ". " + unused);
}

int OfiNetwork::attach(const NetworkName& name, std::string& error) {
  const int number = attach_endpoint(name.endpoint, error);
  // Without an address it is the name of a process that has been attached by its whole name.
  if (number < 0 || name.endpoint.address_bytes == 0) return number;
  // Processes that have been attached for atomics alone, such as those of this node, have numbers.
  while (static_cast<int>(peers_.size()) <= number) {
    auto added = std::make_unique<NetworkPeer>();
    added->number = static_cast<int>(peers_.size());
    peers_.push_back(std::move(added));
  }
  peer(number).lifeline = name.lifeline;
  peer(number).longest_packet = name.endpoint.longest_packet;
  std::string ignored;  // fewer receives serve, too
  receiver_.post_buffers(ignored);
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
  if (++polls_ % steps::polls_per_host_interval == 0) {
    lifeline_->poll();
    buffers_.trim(nanoseconds_now());
  }
  const long code = read_completions([this](const fi_cq_data_entry& entry, int error) {
    // The flag alone is not enough: the provider sockets also sets it at the origin, when our write
    // is over. Completions of other processes' writes have no context, because FI_RX_CQ_DATA is not
    // used.
    if (entry.op_context != nullptr) {
      done(*static_cast<OperationContext*>(entry.op_context), entry.len, error);
    } else if (error != 0) {
      sender_.injected_failed();
    } else if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
      receiver_.arrived({nullptr, entry.data});
    }
  });
  if (code != 0 && meaning_of(code) != FabricError::passing) {
    lose_all(peers_, refusal("to report completions", code));
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
    case Kind::atomic:
      return atomics_->over(static_cast<FetchingAtomic&>(context), code);
  }
}

AtomicNetwork* OfiNetwork::atomics() {
  if (atomics_ == nullptr && facts_.atomics) {
    atomics_ = std::make_unique<OfiAtomics>(static_cast<OfiEndpoint&>(*this));
    if (!atomics_->open()) atomics_.reset();
  }
  return atomics_.get();
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
  if (!asked.lost && !lifeline_->alive(asked.lifeline)) asked.lose();
  return !asked.lost;
}

}  // namespace oriel
