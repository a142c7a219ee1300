// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// The messages that a process sends, for all its windows. Decides when collected messages are
/// sent.
class Outbox {
 public:
  explicit Outbox(Messages& messages) : messages_(messages) {}

  void send(int process, Message& message, std::span<const std::byte> payload) {
    awaited_ |= message.kind == MessageKind::reply || message.kind == MessageKind::lock_granted;
    messages_.send(process, message.trim(), payload);
  }
  bool congested(int process) const { return messages_.congested(process); }
  /// Sends the collected messages, unless a sweep follows soon and they are not urgent.
  void push(bool urgent) {
    if (urgent || !swept_soon_) messages_.push();
  }
  /// Ends a sweep: sends the collected messages if `push` is set, or if an origin waits for one of
  /// them.
  void end_sweep(bool push) {
    if (push || awaited_) messages_.push();
    awaited_ = false;
  }

  /// `soon`: the agent calls sweep() within a short time, whatever the program does. So messages
  /// that are not urgent may wait for others to share a packet.
  void set_swept_soon(bool soon) { swept_soon_ = soon; }
  bool swept_soon() const { return swept_soon_; }

 private:
  Messages& messages_;
  bool awaited_ = false;  // an origin waits for a message that has not been pushed
  bool swept_soon_ = false;
};

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
