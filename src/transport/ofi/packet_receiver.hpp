// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/fifo.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// The receiving side of an endpoint: buffers posted for packets, arrivals restored to the order
/// of sending, and the messages in them.
class PacketReceiver {
 public:
  PacketReceiver(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                 const ImmediateFormat& immediate);

  /// Posts as many buffers as the number of peers calls for. False if the provider accepts none of
  /// them; `error` is a clause then.
  bool post_buffers(std::string& error);
  /// Posts the buffer of an arrival or of a failed receive again.
  void post(PacketBuffer& buffer);
  /// Posts buffers that the provider has not accepted before.
  void post_again();
  /// Called when a posted receive is over.
  void unposted() { --posted_; }

  /// A packet or immediate data that the provider reports.
  void arrived(const Arrival& arrival) { arrived_.push(arrival); }
  bool nothing_arrived() const { return arrived_.empty(); }

  /// The next message of the arrivals, valid until the next call. Empty: there is none.
  std::span<const std::byte> next_message();

 private:
  std::size_t wanted() const;
  bool needs_buffers() const;
  long try_post(PacketBuffer& buffer);
  bool next_arrival();
  bool due(Arrival& arrival);
  NetworkPeer* sender_of(const Arrival& arrival, std::uint32_t& sequence);
  void begin(const Arrival& arrival);
  bool next_early();
  std::span<const std::byte> join(std::span<const std::byte> part);

  OfiEndpoint& endpoint_;
  PacketBuffers& buffers_;
  NetworkPeers& peers_;
  const ImmediateFormat& immediate_;  // for messages behind writes
  Fifo<Arrival> arrived_;             // arrivals not yet handled
  std::size_t posted_ = 0;            // receives that the provider has accepted
  std::vector<PacketBuffer*> unposted_;
  PacketBuffer* current_ = nullptr;  // the packet whose messages are being taken out
  NetworkPeer* sender_ = nullptr;    // the sender of the packet or immediate data handled last
  PacketReader reader_;
  std::span<const std::byte> named_;  // the message that immediate data has named
  std::vector<std::byte> joined_;     // the message that was joined last
};

}  // namespace oriel
