// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "core/remote/message.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// What a process sends, for all its windows: decides when messages that travel together go out.
class Outbox {
 public:
  explicit Outbox(Messages& messages) : messages_(messages) {}

  void send(int process, Message& message, std::span<const std::byte> payload) {
    awaited_ |= message.kind == MessageKind::reply || message.kind == MessageKind::lock_granted;
    messages_.send(process, message.trim(), payload);
  }
  bool congested(int process) const { return messages_.congested(process); }
  void push() { messages_.push(); }
  /// At the end of a sweep: what somebody waits for goes out in any case.
  void end_sweep(bool push) {
    if (push || awaited_) messages_.push();
    awaited_ = false;
  }

  /// Somebody calls sweep() within a short time whatever the program does: what is not urgent may
  /// wait for more to travel with.
  void set_swept_soon(bool soon) { swept_soon_ = soon; }
  bool swept_soon() const { return swept_soon_; }

 private:
  Messages& messages_;
  bool awaited_ = false;  // somebody waits for a message that has not been pushed
  bool swept_soon_ = false;
};

}  // namespace oriel
