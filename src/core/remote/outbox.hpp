// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

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
  void push() { messages_.push(); }
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

}  // namespace oriel
