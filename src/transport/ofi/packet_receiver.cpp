// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_receiver.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <utility>

#include "transport/ofi/fabric_errors.hpp"

namespace oriel {
namespace {

// Posted receives: a part that does not depend on the peers, and one for so many of them. More
// peers than that share each receive, and the provider holds back what finds none.
constexpr std::size_t first_receives = 16;
constexpr std::size_t peers_per_receive = 64;
constexpr std::size_t most_receives = 64;

}  // namespace

PacketReceiver::PacketReceiver(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                               const ImmediateFormat& immediate)
    : endpoint_(endpoint), buffers_(buffers), peers_(peers), immediate_(immediate) {}

bool PacketReceiver::post_buffers(std::string& error) {
  const std::size_t missing = wanted() - std::min(wanted(), posted_ + unposted_.size());
  if (missing > 1 && !buffers_.reserve_long(missing, error)) return false;
  for (std::size_t i = 0; i < missing; ++i) {
    PacketBuffer* buffer = buffers_.acquire_long(error);
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

std::size_t PacketReceiver::wanted() const {
  return std::min(first_receives + peers_.size() / peers_per_receive, most_receives);
}

/// Returns whether fewer buffers are posted, or wait to be posted, than there should be.
bool PacketReceiver::needs_buffers() const {
  return posted_ + unposted_.size() < wanted();
}

long PacketReceiver::try_post(PacketBuffer& buffer) {
  buffer.kind = OperationContext::Kind::receive;
  const ssize_t code = fi_recv(endpoint_.handle(), buffer.data, buffers_.long_bytes(),
                               buffer.descriptor, FI_ADDR_UNSPEC, &buffer.context);
  if (code == 0) ++posted_;
  return code;
}

void PacketReceiver::post(PacketBuffer& buffer) {
  if (!needs_buffers()) return PacketBuffers::release(buffer);
  unposted_.push_back(&buffer);
  post_again();
}

void PacketReceiver::post_again() {
  // Arrivals that waited for their turn may have had all buffers, and their sender may be lost now.
  if (posted_ == 0 && unposted_.empty() && arrived_.empty()) {
    std::string ignored;
    post_buffers(ignored);
  }
  while (!unposted_.empty()) {
    if (const long code = try_post(*unposted_.back()); code != 0) {
      // Without a posted buffer nothing arrives any more, so no call would end.
      if (posted_ == 0 && meaning_of(code) != FabricError::passing) {
        lose_all(peers_, endpoint_.refusal("to receive into a buffer", code));
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
      if (reader_.code() != 0) {
        sender_->received_codes.keep(reader_.code(), message);
      } else if (const auto whole = join(message); !whole.empty()) {
        return whole;
      }
    } else if (!next_arrival()) {
      return {};
    }
  }
}

/// The message of which these bytes are the last or the only ones. Empty: more follow, or it is
/// longer than any message.
std::span<const std::byte> PacketReceiver::join(std::span<const std::byte> part) {
  std::vector<std::byte>& begun = sender_->begun;
  if (!reader_.continues() && begun.empty() && !sender_->overlong) return part;
  if (sender_->overlong || begun.size() + part.size() > Message::most_bytes) {
    begun.clear();
    sender_->overlong = reader_.continues();
    return {};
  }
  begun.insert(begun.end(), part.begin(), part.end());
  if (reader_.continues()) return {};
  joined_ = std::exchange(begun, {});
  return joined_;
}

bool PacketReceiver::next_arrival() {
  if (current_ != nullptr) post(*std::exchange(current_, nullptr));
  if (next_early()) return true;
  for (Arrival arrival; arrived_.pop(arrival);) {
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
  // Processes that are attached for atomics alone have numbers, and send nothing.
  const auto index = static_cast<std::size_t>(from);
  return from >= 0 && index < peers_.size() ? peers_[index].get() : nullptr;
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
          if (PacketBuffer* buffer = buffers_.acquire_long(error)) post(*buffer);
        }
        return false;
      case InOrder<Arrival>::Turn::never:
        break;
    }
  }
  // Not of this job, or a number that has been received already or is invalid.
  if (arrival.packet != nullptr) post(*arrival.packet);
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
  const std::uint32_t unconfirmed = sender_->sent - sender_->confirmed;
  if (reader_.taken() - sender_->confirmed <= unconfirmed) sender_->confirmed = reader_.taken();
}

/// Begins to handle a kept arrival if it is now its sender's next one.
bool PacketReceiver::next_early() {
  if (sender_ == nullptr) return false;
  const auto next = sender_->order.next();
  if (next) begin(*next);
  return next.has_value();
}

}  // namespace oriel
