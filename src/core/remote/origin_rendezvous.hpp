// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/epoch/epoch.hpp"
#include "core/region/region.hpp"
#include "core/remote/buffer_registrations.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Long puts and gets on memory that only a remote target knows, at their origin
/// (Protocol::rendezvous): the origin lends its buffer, and the target moves the bytes by direct
/// transfers of its own (Rendezvous).
class OriginRendezvous {
 public:
  OriginRendezvous(Region& region, Messages& messages, Sender& sender)
      : region_(region), sender_(sender), registrations_(messages) {}

  /// Lends the operation's buffer to its target: its number, for RecordedOperation::registration;
  /// -1: it cannot be lent.
  int register_buffer(const Operation& operation);
  /// Sends the whole request, which names the buffer. `message`: with kind and gate of an
  /// operation.
  void transmit(RecordedOperation& recorded, Message message);
  /// The target is through with the buffer.
  void end(const RecordedOperation& recorded) {
    registrations_.deregister_buffer(recorded.registration);
  }

 private:
  Region& region_;
  Sender& sender_;
  BufferRegistrations registrations_;
};

}  // namespace oriel
