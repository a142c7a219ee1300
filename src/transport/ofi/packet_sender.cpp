// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_sender.hpp"

#include <rdma/fi_endpoint.h>

#include <string>
#include <utility>

#include "transport/ofi/fabric_errors.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

// Operations wait while so many packets to one process, or so many bytes of them, are in flight:
// enough to keep the network busy for a round trip.
constexpr std::size_t most_under_way = 32;
constexpr std::uint64_t most_bytes_under_way = 4 * PacketBuffers::packet_bytes;
// Half of the numbers that InOrder keeps.
constexpr std::uint32_t most_overtaking = 256;
// How often a packet is sent that the provider refuses.
constexpr std::uint8_t most_attempts = 16;

/// Returns whether a packet whose send has failed is sent again.
bool may_repeat(PacketBuffer& buffer, long code) {
  const FabricError error = meaning_of(code);
  return error == FabricError::passing ||
         (error == FabricError::refused && ++buffer.attempts < most_attempts);
}

}  // namespace

PacketSender::PacketSender(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                           PacketReceiver& receiver, const ImmediateFormat& immediate)
    : endpoint_(endpoint),
      buffers_(buffers),
      peers_(peers),
      receiver_(receiver),
      immediate_(immediate) {}

void PacketSender::send(NetworkPeer& to, std::span<const std::byte> header,
                        std::span<const std::byte> payload, std::uint32_t code) {
  if (to.open != nullptr && !to.packet.fits(header.size() + payload.size())) close_packet(to);
  if (to.open == nullptr && !open_packet(to)) return;
  if (!to.listed) open_.push_back(&to);
  to.listed = true;
  to.packet.add(header, payload, code);
}

/// Null if the peer has been lost for lack of a buffer.
PacketBuffer* PacketSender::acquire_buffer(NetworkPeer& to) {
  std::string error;
  PacketBuffer* buffer = buffers_.acquire(error);
  if (buffer == nullptr) {
    receiver_.lose(to, error);
    return nullptr;
  }
  buffer->kind = OperationContext::Kind::send;
  buffer->process = to.number;
  buffer->attempts = 0;
  return buffer;
}

bool PacketSender::open_packet(NetworkPeer& to) {
  to.open = acquire_buffer(to);
  if (to.open == nullptr) return false;
  to.packet = PacketWriter(std::span(to.open->data, PacketBuffers::packet_bytes));
  return true;
}

void PacketSender::close_packet(NetworkPeer& to) {
  PacketBuffer& buffer = *std::exchange(to.open, nullptr);
  if (!to.accepts_packets()) {  // the peer may have been lost since the packet was opened
    buffers_.release(buffer);
    return;
  }
  const bool may_inject = !to.packet.empty();
  dispatch(to, buffer, to.packet, ++to.sent, may_inject);
}

void PacketSender::fill(NetworkPeer& to, std::uint32_t sequence) {
  PacketBuffer* buffer = to.accepts_packets() ? acquire_buffer(to) : nullptr;
  if (buffer == nullptr) return;
  PacketWriter packet(std::span(buffer->data, PacketBuffers::packet_bytes));
  dispatch(to, *buffer, packet, sequence, true);
}

/// Sends the packet that has been written into the buffer, or puts it into the backlog.
void PacketSender::dispatch(NetworkPeer& to, PacketBuffer& buffer, PacketWriter& packet,
                            std::uint32_t sequence, bool may_inject) {
  const auto number = static_cast<std::uint32_t>(to.number);
  buffer.bytes = packet.close(endpoint_.own_name().id, sequence, number).size();
  if (to.backlog.empty() && ((may_inject && inject(to, buffer)) || hand_over(to, buffer))) return;
  to.backlog.push_back(&buffer);
  ++backlogged_;
  ++delayed_;
}

bool PacketSender::inject(NetworkPeer& to, PacketBuffer& buffer) {
  if (buffer.bytes > endpoint_.fabric().inject_bytes ||
      fi_inject(endpoint_.handle(), buffer.data, buffer.bytes, endpoint_.address_of(to.number)) !=
          0) {
    return false;
  }
  buffers_.release(buffer);
  to.injected = true;
  return true;
}

/// Returns whether the packet has been sent or dropped. If not, it must be sent later: packets
/// behind it are not taken out by the receiver before it.
bool PacketSender::hand_over(NetworkPeer& to, PacketBuffer& buffer) {
  const ssize_t code = fi_send(endpoint_.handle(), buffer.data, buffer.bytes, buffer.descriptor,
                               endpoint_.address_of(to.number), &buffer.context);
  if (code != 0) {
    if (may_repeat(buffer, code)) return false;
    drop(to, buffer, code);
    return true;
  }
  ++under_way_;
  ++to.under_way;
  to.bytes_under_way += buffer.bytes;
  return true;
}

void PacketSender::sent(PacketBuffer& buffer, int code) {
  NetworkPeer& to = *peers_[static_cast<std::size_t>(buffer.process)];
  --under_way_;
  --to.under_way;
  to.bytes_under_way -= buffer.bytes;
  if (code == 0) return buffers_.release(buffer);
  if (!to.accepts_packets() || !may_repeat(buffer, code)) return drop(to, buffer, code);
  // The packet keeps its number, so the receiver takes it out before packets that overtook it.
  to.backlog.push_front(&buffer);
  ++backlogged_;
  ++delayed_;
}

/// The peer is lost with the packet: without it no packet behind it can be taken out.
void PacketSender::drop(NetworkPeer& to, PacketBuffer& buffer, long code) {
  const bool gone = meaning_of(code) == FabricError::peer_gone;
  receiver_.lose(to, gone ? std::string() : endpoint_.refusal("to send it a packet", code));
  buffers_.release(buffer);
}

bool PacketSender::drained(Lifeline& lifeline) {
  for (const auto& to : peers_) {
    // No completion is reported for injected packets, but one is for an empty packet behind them.
    const bool injected = std::exchange(to->injected, false);
    if (!injected || !to->accepts_packets() || to->open != nullptr) continue;
    if (open_packet(*to)) close_packet(*to);
  }
  if (backlogged_ == 0) {
    checked_ended_ = 0;
  } else {
    mark_ended_peers(lifeline);
  }
  return open_.empty() && under_way_ == 0 && backlogged_ == 0;
}

/// A peer may end after its last message. The provider then retries forever. Nothing is sent to
/// that peer any more, but its packets may not have been read yet.
void PacketSender::mark_ended_peers(Lifeline& lifeline) {
  const std::uint64_t now = nanoseconds_now();
  if (checked_ended_ == 0) checked_ended_ = now;
  if (now - checked_ended_ < peer_check_interval) return;
  checked_ended_ = now;
  for (const auto& to : peers_) {
    if (to->backlog.empty() || lifeline.alive(to->name.lifeline)) continue;
    to->ended = true;
    push_backlog(*to);
  }
}

void PacketSender::push_backlog(NetworkPeer& to) {
  while (!to.backlog.empty()) {
    if (to.accepts_packets() && !hand_over(to, *to.backlog.front())) return;
    if (!to.accepts_packets()) buffers_.release(*to.backlog.front());
    to.backlog.pop_front();
    --backlogged_;
  }
}

void PacketSender::push_backlogs() {
  if (backlogged_ == 0) return;
  for (const auto& to : peers_) push_backlog(*to);
}

void PacketSender::push() {
  for (NetworkPeer* to : open_) {
    to->listed = false;
    if (to->open != nullptr) close_packet(*to);
  }
  open_.clear();
}

bool PacketSender::congested(const NetworkPeer& to) {
  return !to.backlog.empty() || to.under_way >= most_under_way ||
         to.bytes_under_way >= most_bytes_under_way;
}

std::optional<std::uint64_t> PacketSender::immediate_for(NetworkPeer& to,
                                                         std::span<const std::byte> message) {
  if (!immediate_.usable() || !to.self || !immediate_.names(*to.self) ||
      !SentCodes::fits(message)) {
    return std::nullopt;
  }
  const SentCodes::Code code = to.sent_codes.code_of(message);
  if (!code.known) send(to, message, {}, code.number);
  // The packet's number comes before that of the immediate data.
  if (to.open != nullptr) close_packet(to);
  if (to.under_way == 0 && to.backlog.empty()) to.overtaking = 0;
  if (!to.backlog.empty() || ++to.overtaking > most_overtaking) return std::nullopt;
  return immediate_.pack({*to.self, to.sent + 1, code.number});
}

}  // namespace oriel
