// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/epoch/epoch.hpp"
#include "core/region/region.hpp"
#include "core/remote/buffer_registrations.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// The origin's side of long puts and gets on memory that only the remote target can look up
/// (Protocol::rendezvous): the origin registers its buffer, and the target moves the bytes by
/// direct transfers of its own (Rendezvous).
class OriginRendezvous {
 public:
  OriginRendezvous(Region& region, Messages& messages, Sender& sender)
      : region_(region), sender_(sender), registrations_(messages) {}

  /// Registers the operation's buffer for its target. Returns the number for
  /// RecordedOperation::registration; -1: the buffer cannot be registered.
  int register_buffer(const Operation& operation);
  /// Sends the request with the buffer's address and key. `message` has the kind and the gate of an
  /// operation.
  void transmit(RecordedOperation& recorded, Message message);
  /// Deregisters the buffer. The target no longer uses it.
  void end(const RecordedOperation& recorded) {
    registrations_.deregister_buffer(recorded.registration);
  }

 private:
  Region& region_;
  Sender& sender_;
  BufferRegistrations registrations_;
};

}  // namespace oriel
