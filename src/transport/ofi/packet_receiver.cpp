// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_receiver.hpp"

#include <rdma/fi_endpoint.h>

#include <utility>

#include "transport/ofi/fabric_errors.hpp"

namespace oriel {
namespace {

constexpr std::size_t posted_receives = 16;

}  // namespace

PacketReceiver::PacketReceiver(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                               const ImmediateFormat& immediate)
    : endpoint_(endpoint), buffers_(buffers), peers_(peers), immediate_(immediate) {}

bool PacketReceiver::post_buffers(std::string& error) {
  for (std::size_t i = 0; i < posted_receives; ++i) {
    PacketBuffer* buffer = buffers_.acquire(error);
    if (buffer == nullptr) return false;
    const long code = try_post(*buffer);
    if (code == 0) continue;
    unposted_.push_back(buffer);
    if (meaning_of(code) == FabricError::passing) continue;
    error = endpoint_.refusal("to receive into a buffer", code);
    return false;
  }
  return true;
}

/// Returns whether fewer buffers are posted, or wait to be posted, than there should be.
bool PacketReceiver::needs_buffers() const {
  return posted_ + unposted_.size() < posted_receives;
}

long PacketReceiver::try_post(PacketBuffer& buffer) {
  buffer.kind = OperationContext::Kind::receive;
  const ssize_t code = fi_recv(endpoint_.handle(), buffer.data, PacketBuffers::packet_bytes,
                               buffer.descriptor, FI_ADDR_UNSPEC, &buffer.context);
  if (code == 0) ++posted_;
  return code;
}

void PacketReceiver::post(PacketBuffer& buffer) {
  if (!needs_buffers()) return buffers_.release(buffer);
  unposted_.push_back(&buffer);
  post_again();
}

void PacketReceiver::post_again() {
  while (!unposted_.empty()) {
    if (const long code = try_post(*unposted_.back()); code != 0) {
      // Without a posted buffer nothing arrives any more, so no call would end.
      if (posted_ == 0 && meaning_of(code) != FabricError::passing) {
        lose_all(endpoint_.refusal("to receive into a buffer", code));
      }
      return;
    }
    unposted_.pop_back();
  }
}

std::span<const std::byte> PacketReceiver::next_message() {
  while (true) {
    if (const auto named = std::exchange(named_, {}); !named.empty()) return named;
    if (const auto message = reader_.next(); !message.empty()) {
      if (reader_.code() == 0) return message;
      sender_->received_codes.keep(reader_.code(), message);
    } else if (!next_arrival()) {
      return {};
    }
  }
}

bool PacketReceiver::next_arrival() {
  if (current_ != nullptr) post(*std::exchange(current_, nullptr));
  if (next_early()) return true;
  while (!arrived_.empty()) {
    Arrival arrival = arrived_.front();
    arrived_.pop_front();
    if (due(arrival)) return true;
  }
  return false;
}

/// The sender of an arrival, and its number in the sender's order. Null: not of this job.
NetworkPeer* PacketReceiver::sender_of(const Arrival& arrival, std::uint32_t& sequence) {
  if (arrival.packet == nullptr) {
    const ImmediateData data = immediate_.unpack(arrival.data);
    if (!immediate_.usable() || data.sender >= peers_.size()) return nullptr;
    NetworkPeer& from = *peers_[data.sender];
    sequence = immediate_.sequence_after(from.order.taken(), data.sequence);
    return &from;
  }
  const PacketReader packet({arrival.packet->data, arrival.packet->bytes});
  const int from = packet.valid() ? endpoint_.number_of(packet.source()) : -1;
  sequence = packet.sequence();
  return from >= 0 ? peers_[static_cast<std::size_t>(from)].get() : nullptr;
}

/// Begins to handle an arrival if it is its sender's next one. Returns whether it has begun.
bool PacketReceiver::due(Arrival& arrival) {
  std::uint32_t sequence = 0;
  if (NetworkPeer* from = sender_of(arrival, sequence)) {
    sender_ = from;
    switch (from->lost ? InOrder<Arrival>::Turn::never : from->order.offer(sequence, arrival)) {
      case InOrder<Arrival>::Turn::now:
        begin(arrival);
        return true;
      case InOrder<Arrival>::Turn::later:
        // The arrivals before it need a buffer, too.
        if (std::string error; needs_buffers()) {
          if (PacketBuffer* buffer = buffers_.acquire(error)) post(*buffer);
        }
        return false;
      case InOrder<Arrival>::Turn::never:
        break;
    }
  }
  // Not of this job, or a number that has been received already or is invalid.
  forget(arrival);
  return false;
}

void PacketReceiver::begin(const Arrival& arrival) {
  if (arrival.packet == nullptr) {
    named_ = sender_->received_codes.message(immediate_.unpack(arrival.data).code);
    return;
  }
  current_ = arrival.packet;
  reader_ = PacketReader({current_->data, current_->bytes});
  sender_->self = reader_.receiver();
}

void PacketReceiver::forget(const Arrival& arrival) {
  if (arrival.packet != nullptr) post(*arrival.packet);
}

/// Begins to handle a kept arrival if it is now its sender's next one.
bool PacketReceiver::next_early() {
  if (sender_ == nullptr) return false;
  const auto next = sender_->order.next();
  if (next) begin(*next);
  return next.has_value();
}

void PacketReceiver::lose(NetworkPeer& gone, std::string reason) {
  if (!gone.lost) gone.loss = std::move(reason);
  gone.lost = true;
  for (const Arrival& early : gone.order.drop()) forget(early);
}

void PacketReceiver::lose_all(const std::string& reason) {
  for (const auto& peer : peers_) lose(*peer, reason);
}

}  // namespace oriel
