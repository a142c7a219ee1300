// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "core/operation/operation.hpp"

namespace oriel {

/// Called before an ordered operation on mapped memory (Q2): all that this thread has loaded and
/// stored for earlier operations precedes this operation for all observers. On x86-64 only a load
/// may overtake an earlier store, and the second fence costs nothing. An update that is made alone
/// loads and stores.
inline void order_before(OperationKind kind) {
  if (fetches(kind)) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_acq_rel);
  }
}

/// Called after a flush that found nothing to wait for: the stores of earlier operations precede
/// all later stores of the program, by which it may notify others with any memory order.
inline void order_behind_flush() {
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace oriel
