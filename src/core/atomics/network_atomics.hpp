// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/error.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/region/region.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Accumulates that the transport carries out by atomics of its own, at the origin. The target's
/// Server takes no part, and neither do the CPUs of the target's node, which are not atomic with
/// what carries them out: the way is the same to remote targets, to those on our node and to
/// ourselves.
class NetworkAtomics {
 public:
  NetworkAtomics(PendingOperations& pending, Region& region, Messages& messages)
      : pending_(pending), region_(region), messages_(messages) {}

  /// Records it; the target's next advance() transmits it.
  Error record(const Operation& operation, Epoch& epoch, Target& target, const char*& reason);
  /// Hands over what the network takes; true when it has all. The target is available.
  bool transmit(RecordedOperation& recorded);

 private:
  bool aligned(const Operation& operation);

  PendingOperations& pending_;
  Region& region_;
  Messages& messages_;
};

}  // namespace oriel
