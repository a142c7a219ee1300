// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/error.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/region/region.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Accumulates that the transport carries out by its own atomics, issued by the origin. Neither the
/// target's Server nor the CPUs of its node carry out any of them, because CPU atomics are not
/// atomic with the network's. Remote targets, targets on our node and ourselves are thus reached in
/// one way.
class NetworkAtomics {
 public:
  NetworkAtomics(EpochState& state, Region& region, Messages& messages)
      : state_(state), region_(region), messages_(messages) {}

  /// Records the operation; Link::advance() transmits it.
  Outcome record(const Operation& operation, Epoch& epoch, Target& target);
  /// Gives the network as much as it accepts; true if that was the rest. The target is available.
  bool transmit(RecordedOperation& recorded);

 private:
  bool aligned(const Operation& operation);

  EpochState& state_;
  Region& region_;
  Messages& messages_;
};

}  // namespace oriel
