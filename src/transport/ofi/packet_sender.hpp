// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// The sending side of an endpoint: messages are collected in the open packet of their receiver,
/// and packets that the provider does not accept wait in its backlog.
class PacketSender {
 public:
  PacketSender(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
               const ImmediateFormat& immediate);

  /// Adds a message to the open packet. `code`: as in PacketWriter.
  void send(NetworkPeer& to, std::span<const std::byte> header, std::span<const std::byte> payload,
            std::uint32_t code = 0);
  /// Sends all open packets.
  void push();
  /// Sends packets of the backlogs.
  void push_backlogs();
  /// A packet's send is over. `code`: libfabric's; 0: without an error.
  void sent(PacketBuffer& buffer, int code);
  /// An operation has failed that has no context, so it was probably the send of an injected
  /// packet. Sends a packet with a context behind those of each process: it fails, too, if the
  /// process cannot be reached.
  void injected_failed();
  /// Sends an empty packet of this number, which has been given to immediate data that will not
  /// arrive.
  void fill(NetworkPeer& to, std::uint32_t sequence);

  /// Immediate data that stand for the message: its code, and the next number in our order to the
  /// process. Nothing if the message must be sent in a packet. That is also the case if packets
  /// wait in the backlog, if many packets and immediate data have been sent behind one that may
  /// still fail, or if the process is not known to have taken what was sent long before: the
  /// provider may report immediate data before packets that wait for a buffer, and the receiver can
  /// restore the order of a limited number only.
  std::optional<std::uint64_t> immediate_for(NetworkPeer& to, std::span<const std::byte> message);

  static bool congested(const NetworkPeer& to);
  // As in Network:
  bool drained(NetworkPeer& to, Lifeline& lifeline);
  bool drained(Lifeline& lifeline);
  /// The number of packets that the provider did not accept at once.
  std::uint64_t delayed() const { return delayed_; }

 private:
  void send_in_parts(NetworkPeer& to, std::span<const std::byte> header,
                     std::span<const std::byte> payload);
  bool ensure_space(NetworkPeer& to, std::size_t message);
  bool enlarge(NetworkPeer& to, std::size_t message);
  std::size_t longest_packet(const NetworkPeer& to) const;
  PacketBuffer* acquire_buffer(NetworkPeer& to, std::size_t message);
  static std::span<std::byte> space_of(const NetworkPeer& to, const PacketBuffer& buffer);
  bool open_packet(NetworkPeer& to, std::size_t message = 0);
  void close_packet(NetworkPeer& to);
  void close_buffer(const NetworkPeer& to, PacketBuffer& buffer, PacketWriter& packet,
                    std::uint32_t sequence);
  void send_again(NetworkPeer& to, PacketBuffer& buffer);
  void drop(NetworkPeer& to, PacketBuffer& buffer, long code);
  bool inject(NetworkPeer& to, PacketBuffer& buffer);
  bool hand_over(NetworkPeer& to, PacketBuffer& buffer);
  void push_backlog(NetworkPeer& to);
  void follow_injected(NetworkPeer& to);
  void mark_if_ended(NetworkPeer& to, Lifeline& lifeline);

  OfiEndpoint& endpoint_;
  PacketBuffers& buffers_;
  NetworkPeers& peers_;
  const ImmediateFormat& immediate_;
  std::vector<NetworkPeer*> open_;  // processes with an open packet
  std::size_t backlogged_ = 0;      // packets in all backlogs
  std::uint64_t delayed_ = 0;       // packets that were backlogged
};

}  // namespace oriel
