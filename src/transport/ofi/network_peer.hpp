// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/ofi/lifeline_name.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// An arrival: a packet, or immediate data.
struct Arrival {
  PacketBuffer* packet = nullptr;  // null: immediate data
  std::uint64_t data = 0;
};

/// The state that a network keeps of one attached process.
struct NetworkPeer {
  LifelineName lifeline;
  int number = 0;

  // State of PacketSender:
  std::size_t longest_packet = PacketBuffers::most_bytes;  // that it takes
  PacketBuffer* open = nullptr;                            // the packet being filled
  PacketWriter packet;
  std::uint32_t sent = 0;             // number of packets and immediate data sent
  std::uint32_t confirmed = 0;        // of these, the last one that the peer is known to have taken
  SentCodes sent_codes;               // for messages behind our writes
  std::uint32_t overtaking = 0;       // of `sent`, those since nothing was in flight
  std::size_t failed = 0;             // packets at the front of the backlog, to be sent again
  std::size_t announced = 0;          // direct transfers in flight with immediate data
  std::list<PacketBuffer*> backlog;   // closed packets that the provider did not accept
  std::size_t under_way = 0;          // packets
  std::uint64_t bytes_under_way = 0;  // bytes of these packets
  bool injected = false;              // a packet has been injected since an empty packet was sent
  bool listed = false;                // the peer is in the list of open packets
  // Nanoseconds, when PacketSender::drained() has begun to wait for the peer, or has last checked
  // whether it lives; 0: all sends to the peer were finished.
  std::uint64_t checked_ended = 0;

  // State of PacketReceiver:
  InOrder<Arrival> order;             // of the arrivals from the peer
  std::vector<std::byte> begun;       // the first parts of a message
  bool overlong = false;              // the message is longer than any, and its other parts follow
  ReceivedCodes received_codes;       // for messages behind the peer's writes
  std::optional<std::uint32_t> self;  // our number at the peer

  bool ended = false;  // nothing is sent to it any more; arrivals from it are still taken
  bool lost = false;   // arrivals from it are dropped, too
  std::string loss;    // a clause: why it cannot be reached. Empty: it has ended

  bool accepts_packets() const { return !ended && !lost; }
  /// Marks the peer as lost, and drops its arrivals that wait for their turn. `reason`: a clause,
  /// if the peer may not have ended.
  void lose(std::string reason = {}) {
    if (!lost) loss = std::move(reason);
    lost = true;
    begun = {};
    for (const Arrival& early : order.drop()) {
      if (early.packet != nullptr) PacketBuffers::release(*early.packet);
    }
  }
};

/// The attached processes, by number.
using NetworkPeers = std::vector<std::unique_ptr<NetworkPeer>>;

/// Marks all peers as lost: the endpoint cannot be used any more. `reason`: a clause.
inline void lose_all(const NetworkPeers& peers, const std::string& reason) {
  for (const auto& peer : peers) peer->lose(reason);
}

}  // namespace oriel
