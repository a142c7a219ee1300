// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"

namespace oriel::boundary {

/// What a region stands on in this process: pieces of our arena, and other nodes' access to its
/// memory. It goes with the last window on the region.
struct OwnMemory {
  explicit OwnMemory(CompositeTransport& given) : transports(given) {}
  ~OwnMemory() {
    if (exposure >= 0) transports.network()->withdraw(exposure);
    if (atomic_exposure >= 0) transports.atomics()->withdraw(atomic_exposure);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  CompositeTransport& transports;
  ArenaPiece control;
  ArenaPiece memory;         // null where the program has made it
  int exposure = -1;         // see Network
  int atomic_exposure = -1;  // see AtomicNetwork
};

}  // namespace oriel::boundary
