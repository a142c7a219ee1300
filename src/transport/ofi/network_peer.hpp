// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/ofi/network.hpp"
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
  NetworkName name;
  int number = 0;

  // State of PacketSender:
  PacketBuffer* open = nullptr;  // the packet being filled
  PacketWriter packet;
  std::uint32_t sent = 0;             // number of packets and immediate data sent
  SentCodes sent_codes;               // for messages behind our writes
  std::uint32_t overtaking = 0;       // number of immediate data since no packet was in flight
  std::deque<PacketBuffer*> backlog;  // closed packets that the provider did not accept
  std::size_t under_way = 0;          // packets
  std::uint64_t bytes_under_way = 0;  // bytes of these packets
  bool injected = false;              // a packet has been injected since an empty packet was sent
  bool listed = false;                // the peer is in the list of open packets

  // State of PacketReceiver:
  InOrder<Arrival> order;             // of the arrivals from the peer
  ReceivedCodes received_codes;       // for messages behind the peer's writes
  std::optional<std::uint32_t> self;  // our number at the peer

  bool ended = false;  // nothing is sent to it any more; arrivals from it are still taken
  bool lost = false;   // arrivals from it are dropped, too
  std::string loss;    // a clause: why it cannot be reached. Empty: it has ended

  bool accepts_packets() const { return !ended && !lost; }
};

/// The attached processes, by number.
using NetworkPeers = std::vector<std::unique_ptr<NetworkPeer>>;

}  // namespace oriel
