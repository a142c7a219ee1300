// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_sender.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
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
constexpr std::uint64_t most_bytes_under_way = 4 * PacketBuffers::most_bytes;
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

/// Returns whether one more packet or immediate data may be sent. Packets in flight may still fail
/// and be sent again. The receiver then keeps what has overtaken it, but only a limited number.
bool may_overtake(NetworkPeer& to) {
  if (to.under_way + to.failed + to.announced == 0) to.overtaking = 0;
  return to.overtaking < most_overtaking;
}

void prepare(PacketBuffer& buffer, const NetworkPeer& to) {
  buffer.kind = OperationContext::Kind::send;
  buffer.process = to.number;
  buffer.attempts = 0;
}

/// Removes the first bytes of a span, at most so many, and returns them.
std::span<const std::byte> remove_front(std::span<const std::byte>& bytes, std::size_t most) {
  const auto first = bytes.first(std::min(bytes.size(), most));
  bytes = bytes.subspan(first.size());
  return first;
}

}  // namespace

PacketSender::PacketSender(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                           const ImmediateFormat& immediate)
    : endpoint_(endpoint), buffers_(buffers), peers_(peers), immediate_(immediate) {}

void PacketSender::send(NetworkPeer& to, std::span<const std::byte> header,
                        std::span<const std::byte> payload, std::uint32_t code) {
  const std::size_t bytes = header.size() + payload.size();
  if ((to.open == nullptr || !to.packet.fits(bytes)) && !ensure_space(to, bytes)) return;
  if (!to.listed) open_.push_back(&to);
  to.listed = true;
  if (!to.packet.fits(bytes)) return send_in_parts(to, header, payload);
  to.packet.add(header, payload, code);
}

/// Sends a message that is longer than a packet to the process can be. Each packet but the last is
/// closed.
void PacketSender::send_in_parts(NetworkPeer& to, std::span<const std::byte> header,
                                 std::span<const std::byte> payload) {
  while (true) {
    const std::size_t space = to.packet.space_left();
    const auto first = remove_front(header, space);
    const auto second = remove_front(payload, space - first.size());
    const std::size_t left = header.size() + payload.size();
    to.packet.add(first, second, 0, left != 0);
    if (left == 0) return;
    close_packet(to);
    if (!open_packet(to, left)) return;
  }
}

/// Makes the open packet one with space for a message, or an empty one if no packet is long enough.
/// False: the peer has been lost.
bool PacketSender::ensure_space(NetworkPeer& to, std::size_t message) {
  if (to.open != nullptr) {
    if (enlarge(to, message)) return true;
    close_packet(to);
  }
  return open_packet(to, message);
}

/// Moves the open packet into a long buffer, if the message fits there, too. So as many messages
/// share a packet as if all packets had long buffers.
bool PacketSender::enlarge(NetworkPeer& to, std::size_t message) {
  if (PacketBuffers::bytes_of(*to.open) > PacketBuffers::short_bytes ||
      to.packet.used() + PacketWriter::space_for(message) > longest_packet(to)) {
    return false;
  }
  std::string ignored;  // the packet is closed instead
  PacketBuffer* buffer = buffers_.acquire_long(ignored);
  if (buffer == nullptr) return false;
  prepare(*buffer, to);
  to.packet.move_to(space_of(to, *buffer));
  PacketBuffers::release(*std::exchange(to.open, buffer));
  return true;
}

/// A long buffer if the message needs one and there is one. Null if the peer has been lost for lack
/// of a buffer.
PacketBuffer* PacketSender::acquire_buffer(NetworkPeer& to, std::size_t message) {
  std::string error;
  PacketBuffer* buffer = nullptr;
  if (sizeof(PacketHeader) + PacketWriter::space_for(message) > PacketBuffers::short_bytes &&
      longest_packet(to) > PacketBuffers::short_bytes) {
    buffer = buffers_.acquire_long(error);
  }
  if (buffer == nullptr) buffer = buffers_.acquire_short(error);
  if (buffer == nullptr) {
    to.lose(error);
    return nullptr;
  }
  prepare(*buffer, to);
  return buffer;
}

std::size_t PacketSender::longest_packet(const NetworkPeer& to) const {
  return std::min(to.longest_packet, buffers_.long_bytes());
}

/// The part of a buffer that a packet to the process may have.
std::span<std::byte> PacketSender::space_of(const NetworkPeer& to, const PacketBuffer& buffer) {
  return {buffer.data, std::min(to.longest_packet, PacketBuffers::bytes_of(buffer))};
}

bool PacketSender::open_packet(NetworkPeer& to, std::size_t message) {
  to.open = acquire_buffer(to, message);
  if (to.open == nullptr) return false;
  to.packet = PacketWriter(space_of(to, *to.open));
  return true;
}

void PacketSender::close_packet(NetworkPeer& to) {
  PacketBuffer& buffer = *std::exchange(to.open, nullptr);
  if (!to.accepts_packets()) {  // the peer may have been lost since the packet was opened
    PacketBuffers::release(buffer);
    return;
  }
  const bool may_inject = !to.packet.empty();
  close_buffer(to, buffer, to.packet, ++to.sent);
  if (to.backlog.empty() && may_overtake(to) &&
      ((may_inject && inject(to, buffer)) || hand_over(to, buffer))) {
    return;
  }
  to.backlog.push_back(&buffer);
  ++backlogged_;
  ++delayed_;
}

void PacketSender::fill(NetworkPeer& to, std::uint32_t sequence) {
  PacketBuffer* buffer = to.accepts_packets() ? acquire_buffer(to, 0) : nullptr;
  if (buffer == nullptr) return;
  PacketWriter packet(space_of(to, *buffer));
  close_buffer(to, *buffer, packet, sequence);
  send_again(to, *buffer);
  push_backlog(to);
}

/// Ends the packet that has been written into the buffer.
void PacketSender::close_buffer(const NetworkPeer& to, PacketBuffer& buffer, PacketWriter& packet,
                                std::uint32_t sequence) {
  const auto number = static_cast<std::uint32_t>(to.number);
  buffer.bytes = packet.close(endpoint_.own_name().id, sequence, number, to.order.taken()).size();
}

bool PacketSender::inject(NetworkPeer& to, PacketBuffer& buffer) {
  if (buffer.bytes > endpoint_.facts().inject_bytes ||
      fi_inject(endpoint_.handle(), buffer.data, buffer.bytes, endpoint_.address_of(to.number)) !=
          0) {
    return false;
  }
  PacketBuffers::release(buffer);
  to.injected = true;
  ++to.overtaking;
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
  ++to.under_way;
  to.bytes_under_way += buffer.bytes;
  ++to.overtaking;
  return true;
}

void PacketSender::sent(PacketBuffer& buffer, int code) {
  NetworkPeer& to = *peers_[static_cast<std::size_t>(buffer.process)];
  --to.under_way;
  to.bytes_under_way -= buffer.bytes;
  // If the peer has ended, its last packets may not have been read yet, so it is not lost.
  if (code == 0 || !to.accepts_packets()) return PacketBuffers::release(buffer);
  if (!may_repeat(buffer, code)) return drop(to, buffer, code);
  send_again(to, buffer);
}

/// The packet keeps its number, so the receiver takes it out before packets that overtook it.
void PacketSender::send_again(NetworkPeer& to, PacketBuffer& buffer) {
  to.backlog.push_front(&buffer);
  ++to.failed;
  ++backlogged_;
  ++delayed_;
}

/// The peer is lost with the packet: without it no packet behind it can be taken out.
void PacketSender::drop(NetworkPeer& to, PacketBuffer& buffer, long code) {
  const bool gone = meaning_of(code) == FabricError::peer_gone;
  to.lose(gone ? std::string() : endpoint_.refusal("to send it a packet", code));
  PacketBuffers::release(buffer);
}

/// No completion is reported for injected packets, but one is for an empty packet behind them.
void PacketSender::follow_injected(NetworkPeer& to) {
  const bool injected = std::exchange(to.injected, false);
  if (injected && to.open == nullptr && open_packet(to)) close_packet(to);
}

void PacketSender::injected_failed() {
  for (const auto& to : peers_) {
    if (to->accepts_packets()) follow_injected(*to);
  }
}

bool PacketSender::drained(NetworkPeer& to, Lifeline& lifeline) {
  if (to.accepts_packets()) {
    follow_injected(to);
    if (to.open != nullptr || to.under_way != 0 || !to.backlog.empty()) {
      mark_if_ended(to, lifeline);
      return !to.accepts_packets();
    }
  }
  to.checked_ended = 0;
  return true;
}

bool PacketSender::drained(Lifeline& lifeline) {
  bool all = true;
  for (const auto& to : peers_) all &= drained(*to, lifeline);
  return all;
}

/// A peer may end after its last message. The provider then may retry forever. Nothing is sent to
/// that peer any more, but its packets may not have been read yet.
void PacketSender::mark_if_ended(NetworkPeer& to, Lifeline& lifeline) {
  const std::uint64_t now = nanoseconds_now();
  if (to.checked_ended == 0) to.checked_ended = now;
  if (now - to.checked_ended < peer_check_interval) return;
  to.checked_ended = now;
  if (lifeline.alive(to.lifeline)) return;
  to.ended = true;
  push_backlog(to);
}

void PacketSender::push_backlog(NetworkPeer& to) {
  while (!to.backlog.empty()) {
    const bool again = to.failed != 0;
    if (!to.accepts_packets()) {
      PacketBuffers::release(*to.backlog.front());
    } else if (!((again || may_overtake(to)) && hand_over(to, *to.backlog.front()))) {
      return;
    }
    to.backlog.pop_front();
    if (again) --to.failed;
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
      !SentCodes::fits(message) || to.sent - to.confirmed >= most_overtaking) {
    return std::nullopt;
  }
  const SentCodes::Code code = to.sent_codes.code_of(message);
  if (!code.known) send(to, message, {}, code.number);
  // The packet's number comes before that of the immediate data.
  if (to.open != nullptr) close_packet(to);
  if (!to.backlog.empty() || !may_overtake(to)) return std::nullopt;
  return immediate_.pack({*to.self, to.sent + 1, code.number});
}

}  // namespace oriel
