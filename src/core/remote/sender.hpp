// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

/// A window's messages to its ranks.
class Sender {
 public:
  Sender(Region& region, Outbox& outbox) : region_(region), outbox_(outbox) {}

  void send(int rank, Message message, std::span<const std::byte> payload = {}) {
    address(rank, message);
    outbox_.send(region_.member(rank).process, message, payload);
  }
  /// Fills in the receiver's window number and the origin, for messages that do not go through
  /// send().
  void address(int rank, Message& message) {
    message.window = region_.member(rank).window;
    message.origin = region_.rank();
  }
  /// Sends a protocol step: the word that a mapped rank would find in its Slot.
  void send_word(int rank, MessageKind kind, std::uint64_t word) {
    Message message;
    message.kind = kind;
    message.word = word;
    send(rank, message);
  }
  void push(bool urgent) { outbox_.push(urgent); }
  bool congested(int rank) { return outbox_.congested(region_.member(rank).process); }

 private:
  Region& region_;
  Outbox& outbox_;
};

}  // namespace oriel
